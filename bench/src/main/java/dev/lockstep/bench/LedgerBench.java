package dev.lockstep.bench;

import dev.lockstep.bench.TransferFlow.Way;
import dev.lockstep.ledger.AccountId;
import dev.lockstep.ledger.BookId;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerOutcome;
import dev.lockstep.ledger.Money;
import dev.lockstep.ledger.NewAccount;
import dev.lockstep.ledger.TransferId;
import dev.lockstep.tx.Transactor;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/** Transfers between few accounts and many: hand-written SQL, Lockstep, the ceiling. */
final class LedgerBench implements Benchmark {
  private static final int CALLERS = 500;
  private static final String LOCKSTEP = "Lockstep";
  private static final String CEILING = "ceiling: bulk SQL, one writer";
  private static final int ACCOUNTS_A_STATEMENT = 10_000;
  private static final long CREDIT_LINE = 1_000_000_000_000L;

  private static final List<Situation> SITUATIONS =
      List.of(
          new Situation("2 accounts", 2, Pairs.even(2), 8),
          new Situation("10 accounts", 10, Pairs.even(10), 8),
          new Situation("100,000 accounts, skewed", 100_000, Pairs.skewed(100_000), 1));

  // A lone caller never waits for another, so ten accounts are the same to it as two. It pays for
  // constraints, audit and idempotency that the SQL function does not have.
  private static final double AIM_ALONE = 0.8;
  private static final List<Situation> ALONE = List.of(SITUATIONS.get(0), SITUATIONS.get(2));

  private final BenchRun run;
  private final BenchDatabase database;
  private final Report report;
  private final Transactor transactor;
  private final Ledger ledger;
  private long lastBook;
  private int lastSchema;

  /**
   * @param aim the least ratio of Lockstep's rate to the best of the others
   */
  private record Situation(String name, int accounts, Pairs pairs, double aim) {
    String of(String contender) {
      return name + ": " + contender;
    }
  }

  LedgerBench(BenchRun run) {
    this.run = run;
    this.database = run.database();
    this.report = run.report();
    this.transactor = new Transactor(database.pool());
    this.ledger = new Ledger(transactor);
  }

  @Override
  public void measure() throws Exception {
    for (Situation situation : SITUATIONS) {
      together(situation);
      ceiling(situation);
    }
    for (Situation situation : ALONE) {
      List<Contender> contenders = contenders(situation);
      database.settle();
      run.alone(contenders);
    }
  }

  @Override
  public void aims() {
    SITUATIONS.forEach(situation -> aim(situation, CALLERS, situation.aim()));
    ALONE.forEach(situation -> aim(situation, 1, AIM_ALONE));
  }

  @Override
  public void close() {
    ledger.close();
  }

  private void aim(Situation situation, int callers, double times) {
    Measured best =
        Arrays.stream(Way.values())
            .map(way -> report.find(situation.of(way.label()), callers))
            .reduce((a, b) -> a.perSecond() >= b.perSecond() ? a : b)
            .orElseThrow();
    report.atLeast(
        "Lockstep / best of the others, %s, %d caller%s"
            .formatted(situation.name(), callers, callers == 1 ? "" : "s"),
        report.find(situation.of(LOCKSTEP), callers),
        best,
        times);
  }

  private void together(Situation situation) throws Exception {
    double warm = run.warmUpSeconds(false);
    double cold = run.warmUpSeconds(situation.equals(SITUATIONS.get(0)));
    for (Contender contender : contenders(situation)) {
      database.settle();
      // Hand-written SQL waits for the database, compiled or not.
      run.measure(contender, CALLERS, contender.pooled() ? warm : cold);
    }
  }

  private List<Contender> contenders(Situation situation) throws SQLException {
    List<Contender> contenders = new ArrayList<>();
    for (Way way : Way.values()) {
      TransferFlow flow =
          TransferFlow.create(database, "bank_" + ++lastSchema, way, situation.accounts());
      contenders.add(
          Contender.pooled(
              situation.of(way.label()),
              n -> {
                Pairs.Pair pair = situation.pairs().of(n);
                flow.move(TransferId.next().value(), pair.from(), pair.to(), 1);
              },
              flow::transfers));
    }
    BookId book = open(situation);
    contenders.add(
        Contender.of(
            situation.of(LOCKSTEP),
            n -> move(book, situation.pairs().of(n)),
            () -> transfers(book)));
    return contenders;
  }

  private BookId open(Situation situation) {
    BookId book = new BookId(++lastBook);
    ledger.openBook(book);
    for (long from = 1; from <= situation.accounts(); from += ACCOUNTS_A_STATEMENT) {
      long to = Math.min(situation.accounts(), from + ACCOUNTS_A_STATEMENT - 1);
      ledger.openAccounts(
          book,
          LongStream.rangeClosed(from, to)
              .mapToObj(
                  id ->
                      NewAccount.withCreditLine(
                          new AccountId(id), "account " + id, "JPY", CREDIT_LINE))
              .toList());
    }
    return book;
  }

  private void move(BookId book, Pairs.Pair pair) {
    LedgerOutcome outcome =
        ledger.call(
            new Move(
                book,
                TransferId.next(),
                new AccountId(pair.from()),
                new AccountId(pair.to()),
                new Money(1, "JPY")));
    if (!(outcome instanceof LedgerOutcome.TransferDone)) {
      throw new IllegalStateException("Not done: " + outcome);
    }
  }

  /** Transfers made, if the books balance; -1 if they do not. */
  private long transfers(BookId book) throws SQLException {
    return database.number(
        """
        SELECT CASE WHEN a.balance = 0 AND a.version = 2 * t.n AND e.n = 2 * t.n THEN t.n ELSE -1 END
        FROM (SELECT count(*) n FROM lockstep.transfer WHERE book = %1$d) t,
          (SELECT count(*) n FROM lockstep.entry WHERE book = %1$d) e,
          (SELECT sum(balance) balance, sum(version) version
           FROM lockstep.account WHERE book = %1$d) a"""
            .formatted(book.value()));
  }

  private void ceiling(Situation situation) throws Exception {
    BookId book = open(situation);
    BulkTransfers rows = new BulkTransfers(transactor, book.value(), situation.pairs());
    Contender ceiling =
        Contender.inBatches(
            situation.of(CEILING),
            BulkTransfers.BATCH,
            n -> rows.writeBatch(),
            () -> transfers(book));
    database.settle();
    run.measure(ceiling, 1, run.warmUpSeconds(false));
  }
}
