package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.Line;
import dev.lockstep.hold.NewPool;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.job.ClaimAsk;
import dev.lockstep.job.Handlers;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.NewJob;
import dev.lockstep.job.Outcome;
import dev.lockstep.job.QueueConfig;
import dev.lockstep.job.Worker;
import dev.lockstep.job.WorkerConfig;
import dev.lockstep.ledger.AccountId;
import dev.lockstep.ledger.BookId;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerOutcome.TransferDone;
import dev.lockstep.ledger.Money;
import dev.lockstep.ledger.NewAccount;
import dev.lockstep.ledger.TransferId;
import dev.lockstep.once.Claim;
import dev.lockstep.once.Fingerprint;
import dev.lockstep.once.Once;
import dev.lockstep.once.OnceKey;
import dev.lockstep.outbox.Content;
import dev.lockstep.outbox.NewEvent;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.testkit.TestDatabase;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What each block does in a transaction of the application's framework. */
class BlocksInAHostTransactionTest {
  private static final ScopeId SALE = new ScopeId(1);
  private static final PoolId SHIRTS = new PoolId(1);
  private static final BuyerId ANN = new BuyerId("ann");
  private static final BookId BOOK = new BookId(1);
  private static final AccountId BANK = new AccountId(1);
  private static final AccountId TILL = new AccountId(2);
  private static final OnceKey KEY = new OnceKey(1, "ann", "order-1");
  private static final Fingerprint REQUEST = Fingerprint.of("order-1");

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private final PlainHost host = new PlainHost(database.dataSource());
  private final Transactor transactor = new Transactor(database.dataSource()).withHost(host);
  private final Holds holds = new Holds(transactor);
  private final Ledger ledger = new Ledger(transactor);
  private final Once once = new Once(transactor);
  private final Jobs jobs = new Jobs(transactor);
  private final Outbox outbox = new Outbox(transactor);

  @BeforeAll
  static void aShop() {
    Transactor plain = new Transactor(database.dataSource());
    try (Holds holds = new Holds(plain);
        Ledger ledger = new Ledger(plain)) {
      holds.createScope(SALE, OptionalInt.empty());
      holds.createPools(SALE, List.of(NewPool.counted(SHIRTS, 1_000)));
      ledger.openBook(BOOK);
      ledger.openAccounts(
          BOOK,
          List.of(
              NewAccount.withoutFloor(BANK, "bank", "EUR"), NewAccount.of(TILL, "till", "EUR")));
    }
    new Outbox(plain).create("sales");
  }

  @AfterEach
  void close() {
    holds.close();
    ledger.close();
  }

  @Test
  void itsRollbackTakesEverythingWithIt() {
    String before = everything();

    assertThatThrownBy(
            () ->
                host.transaction(
                    theirs -> {
                      checkout();
                      assertThat(everything()).isEqualTo(before);
                      throw new IllegalArgumentException("changed my mind");
                    }))
        .hasMessage("changed my mind");

    assertThat(everything()).isEqualTo(before);
  }

  @Test
  void itsCommitCommitsEverything() throws SQLException {
    String before = everything();

    host.transaction(theirs -> checkout());

    assertThat(everything()).isNotEqualTo(before).isEqualTo("1 1 2 1 1 1");
    database.execute(
        "DELETE FROM lockstep.job; DELETE FROM lockstep.once; DELETE FROM lockstep.outbox_event");
  }

  private void checkout() {
    transactor.run(
        c -> {
          Claim claim = once.claim(c, KEY, REQUEST);
          assertThat(holds.join(c, acquire("order-1"))).isInstanceOf(Granted.class);
          assertThat(ledger.join(c, move("order-1"))).isInstanceOf(TransferDone.class);
          jobs.enqueue(c, NewJob.of("mail", "thank", "{}"));
          once.answer(c, (Claim.Fresh) claim, "done");
        });
    // At the end of a call, or by itself.
    outbox.appendAtCommit(NewEvent.of("sales", "order-1", "sold", Content.json("{}")));
  }

  private static String everything() {
    return database
        .query(
            """
            SELECT concat_ws(' ', (SELECT count(*) FROM lockstep.hold),
              (SELECT count(*) FROM lockstep.transfer), (SELECT count(*) FROM lockstep.entry),
              (SELECT count(*) FROM lockstep.once), (SELECT count(*) FROM lockstep.job),
              (SELECT count(*) FROM lockstep.outbox_event))""",
            row -> row.getString(1))
        .get(0);
  }

  /** A call that commits by itself. */
  private record Committing(String name, Call call) {
    @Override
    public String toString() {
      return name;
    }
  }

  private interface Call {
    void on(BlocksInAHostTransactionTest blocks);
  }

  static Stream<Committing> callsThatCommit() {
    return Stream.of(
        new Committing("Holds.call", t -> t.holds.call(acquire("refused"))),
        new Committing("Holds.submit", t -> t.holds.submit(acquire("refused"))),
        new Committing("Ledger.call", t -> t.ledger.call(move("refused"))),
        new Committing("Ledger.submit", t -> t.ledger.submit(move("refused"))),
        new Committing("Once.call", t -> t.once.call(KEY, REQUEST, c -> "answer")),
        new Committing(
            "Claims.claim",
            t ->
                t.jobs
                    .claims()
                    .claim("mail", List.of(new ClaimAsk("me", 1, Duration.ofSeconds(1))))));
  }

  @ParameterizedTest
  @MethodSource("callsThatCommit")
  void aCallThatCommitsByItselfIsRefusedAndNamesBothWaysOut(Committing committing)
      throws SQLException {
    String before = everything();

    host.transaction(
        theirs ->
            assertThatIllegalStateException()
                .as(committing.name())
                .isThrownBy(() -> committing.call().on(this))
                .withMessageContaining("commits by itself")
                .withMessageMatching(".*; use .*, or call it outside the transaction"));

    assertThat(everything()).isEqualTo(before);
  }

  /** Its next poll comes after the test. */
  @Test
  void aPollingWorkerHearsAtOnceOfAJobThatWasEnqueuedHere() throws Exception {
    CountDownLatch ran = new CountDownLatch(1);
    WorkerConfig config =
        WorkerConfig.named("test")
            .withQueue(QueueConfig.of("mail", 1))
            .withLease(Duration.ofMinutes(10), Duration.ofMillis(20))
            .withPollInterval(Duration.ofMinutes(10));
    Handlers handlers =
        Handlers.none()
            .on(
                "thank",
                (payload, job) -> {
                  ran.countDown();
                  return Outcome.done();
                });
    try (Worker worker = jobs.worker(config, handlers)) {
      Await.until(
          "it has read all shards and sleeps", () -> worker.ownedShards() == 32 && readerSleeps());

      host.transaction(c -> jobs.enqueue(c, NewJob.of("mail", "thank", "{}")));

      assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
    }
  }

  private static boolean readerSleeps() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("job-reader"))
        .allMatch(thread -> thread.getState() == Thread.State.TIMED_WAITING);
  }

  private static Acquire acquire(String order) {
    return Acquire.of(
        SALE, HoldId.forKey(ANN, order), ANN, List.of(Line.of(SHIRTS, 1)), Duration.ofMinutes(1));
  }

  private static Move move(String order) {
    return new Move(BOOK, TransferId.forKey("ann", order), BANK, TILL, new Money(5, "EUR"));
  }
}
