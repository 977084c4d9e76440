package dev.lockstep.prove.work;

import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.Op;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Few things, many buyers: acquires, carts, changes, extensions, sales, releases and returns. A
 * scope gets some hundred calls and is then left alone, so its history stays short.
 */
final class HoldWork implements Workload {
  private static final int ACTIVE = 5;
  private static final int POOLS = 3;
  private static final int BUYERS = 5;
  private static final int RECENT = 12;
  private static final int CALLS_PER_SCOPE = 400;

  /** One scope and what was asked of it. */
  private record Scope(long id, List<Fields> acquired, AtomicInteger calls) {}

  private final Round round;
  private final List<Scope> all = new CopyOnWriteArrayList<>();
  private final List<Scope> active = new CopyOnWriteArrayList<>();

  HoldWork(Round round) {
    this.round = round;
  }

  @Override
  public void prepare(Client client) throws InterruptedException {
    for (int i = 0; i < ACTIVE; i++) {
      active.add(open(client));
    }
  }

  private Scope open(Client client) throws InterruptedException {
    Scope scope;
    synchronized (all) {
      scope = new Scope(round.id(all.size()), new CopyOnWriteArrayList<>(), new AtomicInteger());
      all.add(scope);
    }
    List<String> pools = new ArrayList<>();
    for (int pool = 1; pool <= POOLS; pool++) {
      pools.add(pool + ":" + (3 + client.below(8)));
    }
    Fields open =
        Fields.of(
            "scope", scope.id(),
            "pools", String.join(",", pools),
            "limit", scope.id() % 2 == 0 ? 0 : 4 + client.below(4));
    client.insist("hold.open", open);
    return scope;
  }

  @Override
  public void step(Client client) throws InterruptedException {
    int place = client.below(ACTIVE);
    Scope scope = active.get(place);
    if (scope.calls().incrementAndGet() == CALLS_PER_SCOPE) {
      active.set(place, open(client));
    }
    List<Fields> known = scope.acquired();
    int what = client.below(100);
    if (known.isEmpty() || what < 38) {
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

  private static void acquire(Client client, Scope scope) throws InterruptedException {
    Fields fields =
        Fields.of(
            "scope", scope.id(),
            "hold", client.uuid(),
            "buyer", "buyer" + client.below(BUYERS),
            "lines", lines(client),
            "for", 1_000 + client.below(2_000));
    Op op = client.call("hold.acquire", fields);
    // Some refused ones too: asked for again, they may be granted.
    if (!op.refused() || client.chance(30)) {
      scope.acquired().add(fields);
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
    for (Scope scope : all) {
      read(client, scope.id(), scope.acquired().stream().map(f -> f.text("hold")).toList());
      client.insist("final.pools", Fields.of("scope", scope.id()));
    }
  }

  /** Reads holds of one scope, many at a time. */
  static List<Fields> read(Client client, long scope, List<String> holds)
      throws InterruptedException {
    return client.readAll("final.hold", Fields.of("scope", scope), "hold", holds);
  }
}
