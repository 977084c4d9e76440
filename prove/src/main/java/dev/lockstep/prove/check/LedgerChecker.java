package dev.lockstep.prove.check;

import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.History;
import dev.lockstep.prove.history.Op;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Money is conserved, floors hold, statements equal balances, a balance in the past never changes,
 * a transfer happens as its caller was told, and entries follow the calls in time.
 */
final class LedgerChecker implements Checker {
  @Override
  public String name() {
    return "ledger";
  }

  @Override
  public Map<String, History> parts(History history) {
    return Checkers.split(
        history, op -> op.args().has("book") ? List.of(op.args().text("book")) : List.of());
  }

  /** An entry, as read. */
  private record Entry(
      long version,
      String transfer,
      String kind,
      long amount,
      long balance,
      long pending,
      long at) {
    static Entry parse(String text) {
      String[] p = text.split(":", -1);
      return new Entry(
          Long.parseLong(p[0]),
          p[1],
          p[2],
          Long.parseLong(p[3]),
          Long.parseLong(p[4]),
          Long.parseLong(p[5]),
          Long.parseLong(p[6]));
    }
  }

  /** One book, as read at the end. */
  private static final class Book {
    final Map<Long, TreeMap<Long, Entry>> entries = new TreeMap<>();
    final Map<Long, Long> floors = new HashMap<>();
    final Map<String, Fields> transfers = new HashMap<>();

    Book(History history) {
      history
          .of("ledger.open")
          .forEach(
              op -> {
                for (String each : op.args().parts("accounts", ",")) {
                  String[] p = each.split(":", -1);
                  if (!p[1].equals("none")) {
                    floors.put(Long.parseLong(p[0]), Long.parseLong(p[1]));
                  }
                }
              });
      history
          .of("final.entries")
          .forEach(
              op -> {
                TreeMap<Long, Entry> own =
                    entries.computeIfAbsent(op.args().number("account"), a -> new TreeMap<>());
                for (String each : op.result().parts("entries", ",")) {
                  Entry entry = Entry.parse(each);
                  own.put(entry.version(), entry);
                }
              });
      history.of("final.transfer").forEach(op -> transfers.put(op.args().text("id"), op.result()));
    }
  }

  @Override
  public List<Violation> check(String part, History history) {
    Book book = new Book(history);
    List<Violation> found = new ArrayList<>();
    for (Op op : history.ops()) {
      if (op.ok() && op.result().has("sum") && op.result().number("sum") != 0) {
        found.add(of("balances add up to zero", part, op.toString()));
      }
    }
    book.entries.forEach((account, entries) -> chain(account, entries, book, found));
    calls(history, book, found);
    instants(history, book, found);
    if (found.isEmpty()) {
      order(history, book, found);
    }
    return found;
  }

  private void chain(long account, Map<Long, Entry> entries, Book book, List<Violation> found) {
    long version = 0;
    long balance = 0;
    Map<String, Integer> kinds = new HashMap<>();
    for (Entry entry : entries.values()) {
      if (entry.version() != ++version || entry.balance() != balance + entry.amount()) {
        found.add(of("entries are a chain", "account " + account, entry.toString()));
        return;
      }
      balance = entry.balance();
      Long floor = book.floors.get(account);
      if (floor != null && balance - entry.pending() < floor) {
        found.add(of("no balance below its floor", "account " + account, entry.toString()));
      }
      boolean begins = entry.kind().equals("MOVED") || entry.kind().equals("RESERVED");
      if (kinds.merge(entry.transfer() + (begins ? "+" : "-"), 1, Integer::sum) > 1) {
        found.add(of("a transfer happens once", "account " + account, entry.toString()));
      }
    }
    long moved = 0;
    for (Fields transfer : book.transfers.values()) {
      if (transfer.has("posted")) {
        moved += transfer.number("to") == account ? transfer.number("posted") : 0;
        moved -= transfer.number("from") == account ? transfer.number("posted") : 0;
      }
    }
    if (!book.transfers.isEmpty() && moved != balance) {
      found.add(
          of(
              "a balance is its transfers",
              "account " + account,
              "balance %d, transfers %d".formatted(balance, moved)));
    }
  }

  private void calls(History history, Book book, List<Violation> found) {
    // Asked for again, a refused transfer may be granted.
    Set<String> maybe = new HashSet<>();
    for (Op op : history.ops()) {
      if (op.ok() || op.unknown()) {
        maybe.addAll(transfers(op));
      }
    }
    for (Op op : history.ops()) {
      for (String id : op.failed() || op.refused() ? transfers(op) : List.<String>of()) {
        Fields read = book.transfers.get(id);
        if (read != null && !maybe.contains(id) && !read.text("state").equals("NONE")) {
          found.add(of("a refused transfer is not there", id, op + " is " + read));
        }
      }
    }
    for (Op op : history.ops()) {
      switch (op.kind()) {
        case "ledger.move" -> expect(op, op.args().text("id"), "POSTED", book, found);
        case "ledger.linked" -> {
          for (String step : op.args().parts("steps", ",")) {
            expect(op, step.split(":", -1)[1], "POSTED", book, found);
          }
        }
        case "ledger.reserve" -> expect(op, op.args().text("id"), "", book, found);
        case "ledger.post" -> ended(op, "POSTED", book, found);
        case "ledger.cancel" -> ended(op, "VOIDED", book, found);
        case "final.account" -> {
          TreeMap<Long, Entry> own = book.entries.get(op.args().number("account"));
          Entry entry = own == null ? null : own.get(op.result().number("version"));
          boolean empty = op.result().number("version") == 0 && op.result().number("balance") == 0;
          if (own != null
              && !empty
              && (entry == null
                  || entry.balance() != op.result().number("balance")
                  || entry.pending() != op.result().number("pending"))) {
            found.add(of("a statement equals its balance", op.args().text("account"), "" + op));
          }
        }
        default -> {
          // Not about one transfer.
        }
      }
    }
  }

  /** The transfers that a call would make. */
  private static List<String> transfers(Op op) {
    if (op.is("ledger.move") || op.is("ledger.reserve")) {
      return List.of(op.args().text("id"));
    }
    return op.is("ledger.linked")
        ? op.args().parts("steps", ",").stream().map(step -> step.split(":", -1)[1]).toList()
        : List.of();
  }

  /** A transfer is there if its caller was told so. */
  private void expect(Op op, String id, String state, Book book, List<Violation> found) {
    Fields read = book.transfers.get(id);
    if (read == null || !op.ok()) {
      return;
    }
    boolean isThere = !read.text("state").equals("NONE");
    if (!isThere || !(state.isEmpty() || read.text("state").equals(state))) {
      found.add(of("a transfer that was answered is there", id, op + " is " + read));
    }
    if (op.is("ledger.move") && isThere && op.args().number("amount") != read.number("amount")) {
      found.add(of("a transfer is as asked", id, op + " is " + read));
    }
  }

  private void ended(Op op, String state, Book book, List<Violation> found) {
    Fields read = book.transfers.get(op.args().text("id"));
    if (read == null || !op.ok()) {
      return;
    }
    long asked = op.args().number("amount", 0);
    boolean agrees = read.text("state").equals(state);
    boolean fresh = !op.result().flag("replayed");
    if (!agrees
        || (fresh && state.equals("POSTED") && asked > 0 && read.number("posted") != asked)) {
      found.add(of("a pending transfer ends once", op.args().text("id"), op + " is " + read));
    }
  }

  /** The balance reported for an instant never changes. */
  private void instants(History history, Book book, List<Violation> found) {
    Map<String, String> said = new HashMap<>();
    for (Op op : history.ops()) {
      if (!op.kind().endsWith(".balanceAt") || !op.ok()) {
        continue;
      }
      String instant = op.args().text("account") + "@" + op.args().text("at");
      String balance = op.result().text("balance");
      String before = said.putIfAbsent(instant, balance);
      if (before != null && !before.equals(balance)) {
        found.add(of("the past does not change", instant, before + ", then " + op));
      }
      TreeMap<Long, Entry> own = book.entries.get(op.args().number("account"));
      if (own != null) {
        long last = 0;
        for (Entry entry : own.values()) {
          if (entry.at() <= op.args().number("at")) {
            last = entry.balance();
          }
        }
        if (last != Long.parseLong(balance)) {
          found.add(
              of("the past is the entries", instant, "%d by the entries: ".formatted(last) + op));
        }
      }
    }
  }

  /** A call that ended before another began has the lower version in every account of both. */
  private void order(History history, Book book, List<Violation> found) {
    Map<String, List<Op>> byTransfer = new HashMap<>();
    for (Op op : history.ops()) {
      boolean writes = op.is("ledger.move") || op.is("ledger.reserve");
      if (writes && op.ok() && !op.result().flag("replayed")) {
        byTransfer.computeIfAbsent(op.args().text("id"), t -> new ArrayList<>()).add(op);
      }
    }
    book.entries.forEach(
        (account, entries) -> {
          Op latest = null;
          for (Entry entry : entries.values()) {
            boolean begins = entry.kind().equals("MOVED") || entry.kind().equals("RESERVED");
            List<Op> ops =
                begins ? byTransfer.getOrDefault(entry.transfer(), List.of()) : List.of();
            for (Op op : ops) {
              if (latest != null && op.before(latest)) {
                found.add(
                    new Violation(
                        name(),
                        "entries follow time",
                        "account " + account,
                        "",
                        List.of(latest, op)));
                return;
              }
              latest = latest == null || op.start() > latest.start() ? op : latest;
            }
          }
          refusals(history, account, entries, book, byTransfer, found);
        });
  }

  /** "Not enough" must be true at some instant of the call, with that amount. */
  private void refusals(
      History history,
      long account,
      Map<Long, Entry> entries,
      Book book,
      Map<String, List<Op>> byTransfer,
      List<Violation> found) {
    Long floor = book.floors.get(account);
    if (floor == null) {
      return;
    }
    Available available = new Available(floor);
    for (Entry entry : entries.values()) {
      boolean begins = entry.kind().equals("MOVED") || entry.kind().equals("RESERVED");
      List<Op> by = begins ? byTransfer.getOrDefault(entry.transfer(), List.of()) : List.of();
      available.add(entry.balance() - entry.pending() - floor, by);
    }
    for (Op op : history.ops()) {
      if (op.refused()
          && op.result().text("why").equals("InsufficientFunds")
          && op.result().number("account") == account
          && !available.ever(op.result().number("available"), op)) {
        found.add(of("a refusal was true", "account " + account, op.toString()));
        return;
      }
    }
  }

  private Violation of(String rule, String part, String why) {
    return new Violation(name(), rule, part, why, List.of());
  }
}
