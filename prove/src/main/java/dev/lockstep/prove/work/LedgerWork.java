package dev.lockstep.prove.work;

import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.Op;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Transfers between few accounts: at once, in two phases, linked. */
final class LedgerWork implements Workload {
  private static final int BOOKS = 4;
  static final int ACCOUNTS = 6;
  private static final int BANK = 1;
  private static final int RECENT = 10;
  private static final int MOST_INSTANTS = 400;

  private final Round round;
  private final Recently moves = new Recently(RECENT);
  private final Recently pending = new Recently(RECENT);
  private final Recently instants = new Recently(100);
  // By book.
  private final List<Set<String>> transfers = new ArrayList<>();
  private final Set<Fields> asked = ConcurrentHashMap.newKeySet();

  LedgerWork(Round round) {
    this.round = round;
    for (int i = 0; i < BOOKS; i++) {
      transfers.add(ConcurrentHashMap.newKeySet());
    }
  }

  @Override
  public void prepare(Client client) throws InterruptedException {
    List<String> accounts = new ArrayList<>(List.of(BANK + ":none"));
    for (int i = 2; i <= ACCOUNTS; i++) {
      accounts.add(i + ":" + (i == ACCOUNTS ? -80 : 0));
    }
    for (int i = 0; i < BOOKS; i++) {
      client.insist("ledger.open", book(i).with("accounts", String.join(",", accounts)));
    }
  }

  private Fields book(int which) {
    return Fields.of("book", round.id(which));
  }

  private static Fields bookOf(Fields call) {
    return Fields.of("book", call.text("book"));
  }

  @Override
  public void step(Client client) throws InterruptedException {
    int what = client.below(100);
    int book = client.below(BOOKS);
    if (what < 34) {
      Fields move = transfer(client, book);
      moves.add(move);
      client.call("ledger.move", move);
    } else if (what < 40 && moves.any()) {
      // Again, perhaps while the first is under way.
      client.call("ledger.move", moves.pick(client));
    } else if (what < 58) {
      Fields reserve = transfer(client, book).with("for", 1_000 + client.below(2_000));
      Op op = client.call("ledger.reserve", reserve);
      if (!op.refused()) {
        pending.add(reserve);
      }
    } else if (what < 76 && pending.any()) {
      end(client);
    } else if (what < 90) {
      linked(client, book);
    } else if (what < 94) {
      client.call("ledger.sum", book(book));
    } else {
      balance(client, book);
    }
  }

  private Fields transfer(Client client, int book) {
    int from = client.chance(20) ? BANK : 2 + client.below(ACCOUNTS - 1);
    int to = 2 + client.below(ACCOUNTS - 1);
    if (to == from) {
      to = BANK;
    }
    String id = client.uuid().toString();
    transfers.get(book).add(id);
    return book(book)
        .with("id", id)
        .with("from", from)
        .with("to", to)
        .with("amount", 1 + client.below(60));
  }

  private void end(Client client) throws InterruptedException {
    Fields reserved = pending.pick(client);
    Fields named = bookOf(reserved).with("id", reserved.text("id"));
    if (client.chance(35)) {
      client.call("ledger.cancel", named);
    } else {
      long amount = client.chance(50) ? 0 : 1 + client.below((int) reserved.number("amount"));
      client.call("ledger.post", named.with("amount", amount));
    }
  }

  private void linked(Client client, int book) throws InterruptedException {
    List<String> steps = new ArrayList<>();
    int count = 2 + client.below(2);
    for (int i = 0; i < count; i++) {
      Fields t = transfer(client, book);
      steps.add(
          "move:%s:%s:%s:%s:0"
              .formatted(t.text("id"), t.text("from"), t.text("to"), t.text("amount")));
    }
    client.call("ledger.linked", book(book).with("steps", String.join(",", steps)));
  }

  private void balance(Client client, int book) throws InterruptedException {
    Fields question;
    if (!instants.any() || client.chance(60)) {
      long at = System.currentTimeMillis() * 1_000 - client.below(400_000);
      question = book(book).with("account", 1 + client.below(ACCOUNTS)).with("at", at);
      instants.add(question);
    } else {
      question = instants.pick(client);
    }
    client.call("ledger.balanceAt", question);
    if (asked.size() < MOST_INSTANTS) {
      asked.add(question);
    }
  }

  @Override
  public void finish(Client client) throws InterruptedException {
    for (Fields question : asked) {
      client.insist("final.balanceAt", question);
    }
    for (int i = 0; i < BOOKS; i++) {
      read(client, round.id(i), List.copyOf(transfers.get(i)));
      client.insist("final.sum", book(i));
      for (int account = 1; account <= ACCOUNTS; account++) {
        entries(client, book(i).with("account", account));
      }
    }
  }

  private static void entries(Client client, Fields account) throws InterruptedException {
    // The account first: later entries are beyond its version.
    client.insist("final.account", account);
    long after = 0;
    while (true) {
      Op page = client.insist("final.entries", account.with("after", after));
      List<String> entries = page.result().parts("entries", ",");
      if (entries.isEmpty()) {
        return;
      }
      after = Long.parseLong(entries.get(entries.size() - 1).split(":", -1)[0]);
    }
  }

  /** Reads transfers of one book, many at a time. */
  static void read(Client client, long book, List<String> ids) throws InterruptedException {
    client.readAll("final.transfer", Fields.of("book", book), "id", ids);
  }
}
