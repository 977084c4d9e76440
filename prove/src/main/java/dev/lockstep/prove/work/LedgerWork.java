package dev.lockstep.prove.work;

import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.Op;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Transfers between few accounts: at once, in two phases, linked. */
final class LedgerWork implements Workload {
  static final int ACCOUNTS = 6;
  private static final int BANK = 1;
  private static final int RECENT = 10;

  private final Round round;
  private final List<Fields> moves = new CopyOnWriteArrayList<>();
  private final List<Fields> pending = new CopyOnWriteArrayList<>();
  private final Set<String> transfers = ConcurrentHashMap.newKeySet();
  private final List<Fields> instants = new CopyOnWriteArrayList<>();

  LedgerWork(Round round) {
    this.round = round;
  }

  @Override
  public void prepare(Client client) throws InterruptedException {
    List<String> accounts = new ArrayList<>(List.of(BANK + ":none"));
    for (int i = 2; i <= ACCOUNTS; i++) {
      accounts.add(i + ":" + (i == ACCOUNTS ? -80 : 0));
    }
    client.insist("ledger.open", book().with("accounts", String.join(",", accounts)));
  }

  private Fields book() {
    return Fields.of("book", round.id(0));
  }

  @Override
  public void step(Client client) throws InterruptedException {
    int what = client.below(100);
    if (what < 34) {
      Fields move = transfer(client);
      moves.add(move);
      client.call("ledger.move", move);
    } else if (what < 40 && !moves.isEmpty()) {
      // Again, perhaps while the first is under way.
      int back = Math.min(moves.size(), RECENT);
      client.call("ledger.move", moves.get(moves.size() - 1 - client.below(back)));
    } else if (what < 58) {
      Fields reserve = transfer(client).with("for", 1_000 + client.below(2_000));
      Op op = client.call("ledger.reserve", reserve);
      if (!op.refused()) {
        pending.add(reserve);
      }
    } else if (what < 76 && !pending.isEmpty()) {
      end(client);
    } else if (what < 90) {
      linked(client);
    } else if (what < 94) {
      client.call("ledger.sum", book());
    } else {
      balance(client);
    }
  }

  private Fields transfer(Client client) {
    int from = client.chance(20) ? BANK : 2 + client.below(ACCOUNTS - 1);
    int to = 2 + client.below(ACCOUNTS - 1);
    if (to == from) {
      to = BANK;
    }
    String id = client.uuid().toString();
    transfers.add(id);
    return book()
        .with("id", id)
        .with("from", from)
        .with("to", to)
        .with("amount", 1 + client.below(60));
  }

  private void end(Client client) throws InterruptedException {
    int back = Math.min(pending.size(), RECENT);
    Fields reserved = pending.get(pending.size() - 1 - client.below(back));
    Fields named = book().with("id", reserved.text("id"));
    if (client.chance(35)) {
      client.call("ledger.cancel", named);
    } else {
      long amount = client.chance(50) ? 0 : 1 + client.below((int) reserved.number("amount"));
      client.call("ledger.post", named.with("amount", amount));
    }
  }

  private void linked(Client client) throws InterruptedException {
    List<String> steps = new ArrayList<>();
    int count = 2 + client.below(2);
    for (int i = 0; i < count; i++) {
      Fields t = transfer(client);
      steps.add(
          "move:%s:%s:%s:%s:0"
              .formatted(t.text("id"), t.text("from"), t.text("to"), t.text("amount")));
    }
    client.call("ledger.linked", book().with("steps", String.join(",", steps)));
  }

  private void balance(Client client) throws InterruptedException {
    Fields asked;
    if (instants.isEmpty() || client.chance(60)) {
      long at = System.currentTimeMillis() * 1_000 - client.below(400_000);
      asked = book().with("account", 1 + client.below(ACCOUNTS)).with("at", at);
      instants.add(asked);
    } else {
      asked = client.pick(instants);
    }
    client.call("ledger.balanceAt", asked);
  }

  @Override
  public void finish(Client client) throws InterruptedException {
    for (Fields asked : instants) {
      client.insist("final.balanceAt", asked);
    }
    for (String id : transfers) {
      client.insist("final.transfer", book().with("id", id));
    }
    client.insist("final.sum", book());
    for (int account = 1; account <= ACCOUNTS; account++) {
      Fields named = book().with("account", account);
      // The account first: entries that come later are none of its.
      client.insist("final.account", named);
      long after = 0;
      while (true) {
        Op page = client.insist("final.entries", named.with("after", after));
        List<String> entries = page.result().parts("entries", ",");
        if (entries.isEmpty()) {
          break;
        }
        after = Long.parseLong(entries.get(entries.size() - 1).split(":", -1)[0]);
      }
    }
  }
}
