package dev.lockstep.prove.work;

import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.Op;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Few things, many buyers: acquires, carts, changes, extensions, sales, releases and returns. */
final class HoldWork implements Workload {
  private static final int SCOPES = 5;
  private static final int POOLS = 3;
  private static final int BUYERS = 5;
  private static final int RECENT = 12;
  private static final int MOST_PER_SCOPE = 160;

  private final Round round;
  private final List<List<Fields>> acquired = new ArrayList<>();

  HoldWork(Round round) {
    this.round = round;
    for (int i = 0; i < SCOPES; i++) {
      acquired.add(new CopyOnWriteArrayList<>());
    }
  }

  @Override
  public void prepare(Client client) throws InterruptedException {
    for (int i = 0; i < SCOPES; i++) {
      List<String> pools = new ArrayList<>();
      for (int pool = 1; pool <= POOLS; pool++) {
        pools.add(pool + ":" + (3 + client.below(8)));
      }
      Fields open =
          Fields.of(
              "scope", round.id(i),
              "pools", String.join(",", pools),
              "limit", i % 2 == 0 ? 0 : 4 + client.below(4));
      client.insist("hold.open", open);
    }
  }

  @Override
  public void step(Client client) throws InterruptedException {
    int scope = client.below(SCOPES);
    List<Fields> known = acquired.get(scope);
    int what = client.below(100);
    if (known.isEmpty() || (what < 38 && known.size() < MOST_PER_SCOPE)) {
      acquire(client, scope);
      return;
    }
    int back = Math.min(known.size(), RECENT);
    Fields hold = known.get(known.size() - 1 - client.below(back));
    Fields named = Fields.of("scope", hold.text("scope"), "hold", hold.text("hold"));
    if (what < 46) {
      client.call("hold.acquire", hold);
    } else if (what < 56) {
      client.call("hold.change", named.with("lines", lines(client)));
    } else if (what < 64) {
      client.call("hold.extend", named.with("for", 1_000 + client.below(2_500)));
    } else if (what < 78) {
      client.call("hold.confirm", named);
    } else if (what < 92) {
      client.call("hold.release", named);
    } else {
      client.call("hold.return", named);
    }
  }

  private void acquire(Client client, int scope) throws InterruptedException {
    Fields fields =
        Fields.of(
            "scope", round.id(scope),
            "hold", client.uuid(),
            "buyer", "buyer" + client.below(BUYERS),
            "lines", lines(client),
            "for", 1_000 + client.below(2_000));
    Op op = client.call("hold.acquire", fields);
    // A refused one is known too: it is asked for again, and then it may be granted.
    if (!op.refused() || client.chance(30)) {
      acquired.get(scope).add(fields);
    }
  }

  private static String lines(Client client) {
    List<String> lines = new ArrayList<>();
    int first = 1 + client.below(POOLS);
    lines.add(first + ":" + (1 + client.below(2)));
    if (client.chance(25)) {
      lines.add(1 + first % POOLS + ":" + (1 + client.below(2)));
    }
    return String.join(",", lines);
  }

  @Override
  public void finish(Client client) throws InterruptedException {
    for (int i = 0; i < SCOPES; i++) {
      for (Fields hold : acquired.get(i)) {
        client.insist(
            "final.hold", Fields.of("scope", hold.text("scope"), "hold", hold.text("hold")));
      }
      client.insist("final.pools", Fields.of("scope", round.id(i)));
    }
  }
}
