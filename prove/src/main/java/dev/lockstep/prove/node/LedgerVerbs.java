package dev.lockstep.prove.node;

import dev.lockstep.fault.ConstraintViolated;
import dev.lockstep.ledger.Account;
import dev.lockstep.ledger.AccountId;
import dev.lockstep.ledger.BookId;
import dev.lockstep.ledger.Entry;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.LedgerCommand;
import dev.lockstep.ledger.LedgerCommand.Linked;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerCommand.Post;
import dev.lockstep.ledger.LedgerCommand.Reserve;
import dev.lockstep.ledger.LedgerCommand.VoidPending;
import dev.lockstep.ledger.LedgerOutcome;
import dev.lockstep.ledger.LedgerRecords;
import dev.lockstep.ledger.Money;
import dev.lockstep.ledger.NewAccount;
import dev.lockstep.ledger.Transfer;
import dev.lockstep.ledger.TransferId;
import dev.lockstep.ledger.TrialBalance;
import dev.lockstep.prove.history.Fields;
import dev.lockstep.tx.Transactor;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * The ledger. Linked steps travel as {@code kind:id:from:to:amount:ms}, joined by commas; a single
 * command has the same parts as fields.
 */
final class LedgerVerbs {
  private static final String CURRENCY = "EUR";

  private final Transactor transactor;
  private final Ledger ledger;

  LedgerVerbs(Transactor transactor, Ledger ledger) {
    this.transactor = transactor;
    this.ledger = ledger;
  }

  Map<String, Verb> verbs() {
    Map<String, Verb> verbs = new HashMap<>();
    verbs.put("ledger.open", this::open);
    for (String kind : List.of("move", "reserve", "post", "cancel")) {
      verbs.put("ledger." + kind, f -> answer(ledger.call(single(kind, f))));
    }
    verbs.put("ledger.linked", f -> answer(ledger.call(linked(f))));
    verbs.put("ledger.sum", this::sum);
    verbs.put("ledger.balanceAt", this::balanceAt);
    verbs.put("final.sum", this::sum);
    verbs.put("final.balanceAt", this::balanceAt);
    verbs.put("final.transfers", this::transfers);
    verbs.put("final.entries", this::entries);
    verbs.put("final.account", this::account);
    return verbs;
  }

  private static BookId book(Fields f) {
    return new BookId(f.number("book"));
  }

  /** Accounts travel as {@code id:floor}; {@code none} is no floor. */
  private Answer open(Fields f) {
    BookId book = book(f);
    try {
      ledger.openBook(book);
    } catch (ConstraintViolated e) {
      // An earlier attempt made it, but perhaps not its accounts.
    }
    List<NewAccount> accounts = new ArrayList<>();
    for (String each : f.parts("accounts", ",")) {
      String[] parts = each.split(":", -1);
      AccountId id = new AccountId(Long.parseLong(parts[0]));
      accounts.add(
          parts[1].equals("none")
              ? NewAccount.withoutFloor(id, "account " + id.value(), CURRENCY)
              : NewAccount.withCreditLine(
                  id, "account " + id.value(), CURRENCY, -Long.parseLong(parts[1])));
    }
    ledger.openAccounts(book, accounts);
    return Answer.ok();
  }

  static LedgerCommand<?> single(String kind, Fields f) {
    return step(
        book(f),
        kind,
        new String[] {
          kind,
          f.text("id"),
          f.text("from", "0"),
          f.text("to", "0"),
          f.text("amount", "0"),
          f.text("for", "0")
        });
  }

  private static LedgerCommand<?> step(BookId book, String kind, String[] parts) {
    TransferId id = TransferId.of(parts[1]);
    AccountId from = new AccountId(Long.parseLong(parts[2]));
    AccountId to = new AccountId(Long.parseLong(parts[3]));
    long amount = Long.parseLong(parts[4]);
    return switch (kind) {
      case "move" -> new Move(book, id, from, to, new Money(amount, CURRENCY));
      case "reserve" ->
          new Reserve(
              book,
              id,
              from,
              to,
              new Money(amount, CURRENCY),
              Duration.ofMillis(Long.parseLong(parts[5])));
      case "post" ->
          new Post(book, id, amount == 0 ? OptionalLong.empty() : OptionalLong.of(amount));
      default -> new VoidPending(book, id);
    };
  }

  private static Linked linked(Fields f) {
    List<LedgerCommand<?>> steps = new ArrayList<>();
    for (String each : f.parts("steps", ",")) {
      String[] parts = each.split(":", -1);
      steps.add(step(book(f), parts[0], parts));
    }
    return new Linked(book(f), steps);
  }

  static Answer answer(LedgerOutcome outcome) {
    if (outcome instanceof LedgerOutcome.TransferDone done) {
      return Answer.ok(
          "state", done.transfer().state(),
          "posted", done.transfer().posted(),
          "replayed", done.replayed());
    }
    if (outcome instanceof LedgerOutcome.AllDone all) {
      return Answer.ok("replayed", all.replayed());
    }
    if (outcome instanceof LedgerOutcome.Refused refused) {
      Answer why = answer(refused.why());
      return Answer.refused("Linked", "step", refused.step(), "because", why.fields().line());
    }
    if (outcome instanceof LedgerOutcome.InsufficientFunds lacking) {
      return Answer.refused(
          "InsufficientFunds",
          "account",
          lacking.account().value(),
          "available",
          lacking.available(),
          "asked",
          lacking.asked());
    }
    if (outcome instanceof LedgerOutcome.NotPending not) {
      return Answer.refused("NotPending", "state", not.transfer().state());
    }
    if (outcome instanceof LedgerOutcome.LedgerOverloaded) {
      return Answer.failed("Overloaded");
    }
    return Answer.refused(outcome.getClass().getSimpleName());
  }

  private Answer sum(Fields f) {
    List<String> sums = new ArrayList<>();
    for (TrialBalance each : ledger.trialBalance(book(f))) {
      sums.add(each.toString());
    }
    long total = 0;
    for (Account account : ledger.accounts(book(f), new AccountId(0), Ledger.MAX_PAGE)) {
      total += account.balance();
    }
    return Answer.ok("sum", total, "trial", String.join(" ", sums));
  }

  private Answer balanceAt(Fields f) {
    Instant at = Instant.EPOCH.plus(f.number("at"), ChronoUnit.MICROS);
    return Answer.ok("balance", ledger.balanceAt(book(f), new AccountId(f.number("account")), at));
  }

  /** Several transfers, each as one line, in the order asked for. */
  private Answer transfers(Fields f) {
    BookId book = book(f);
    List<TransferId> wanted = f.parts("ids", ",").stream().map(TransferId::of).toList();
    Map<TransferId, Transfer> found = new HashMap<>();
    transactor
        .call(connection -> LedgerRecords.transfers(connection, Map.of(book, wanted)))
        .forEach(transfer -> found.put(transfer.id(), transfer));
    List<String> lines = new ArrayList<>();
    for (TransferId id : wanted) {
      Transfer transfer = found.get(id);
      lines.add((transfer == null ? Fields.of("state", "NONE") : fields(transfer)).line());
    }
    return Answer.ok("found", String.join(";", lines));
  }

  private static Fields fields(Transfer transfer) {
    return Fields.of(
        "state", transfer.state(),
        "from", transfer.from().value(),
        "to", transfer.to().value(),
        "amount", transfer.money().amount(),
        "posted", transfer.posted());
  }

  private Answer entries(Fields f) {
    List<String> all = new ArrayList<>();
    AccountId account = new AccountId(f.number("account"));
    for (Entry e : ledger.entries(book(f), account, f.number("after"), 1_000)) {
      all.add(
          "%d:%s:%s:%d:%d:%d:%d"
              .formatted(
                  e.version(),
                  e.transfer(),
                  e.kind(),
                  e.amount(),
                  e.balance(),
                  e.pending(),
                  HoldVerbs.micros(e.at())));
    }
    return Answer.ok("entries", String.join(",", all));
  }

  private Answer account(Fields f) {
    Account account = ledger.account(book(f), new AccountId(f.number("account"))).orElseThrow();
    return Answer.ok(
        "balance", account.balance(), "pending", account.pending(), "version", account.version());
  }
}
