package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.testkit.CommitFault;
import dev.lockstep.testkit.CommitFault.Moment;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.TxAttempt.TxOutcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The server stops as in a power cut and comes back: every effect exists exactly once. */
class ServerCrashTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.ownServer(true);

  private static final String EFFECTS = "SELECT count(*) FROM effect";
  private static final String NEXT_XID =
      "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint";

  // Slow commits are to end by the crash, not by a timeout on a slow machine.
  private static final TxOptions PATIENT =
      TxOptions.DEFAULT
          .withStatementTimeout(Duration.ofMinutes(1))
          .withLockTimeout(Duration.ofMinutes(1))
          .withDeadline(Duration.ofMinutes(2));

  private final Attempted attempted = new Attempted();
  private final CountDownLatch restarted = new CountDownLatch(1);
  private final AtomicBoolean down = new AtomicBoolean();

  @BeforeEach
  void noEffectYet() {
    database.execute("DROP TABLE IF EXISTS effect; CREATE TABLE effect (reference text)");
  }

  @Test
  void aCrashInTheMiddleOfATransactionIsSurvived() {
    Transactor transactor = new Transactor(database.dataSource(), TxOptions.DEFAULT, attempted);

    transactor.run(
        connection -> {
          insert(connection, "r1");
          if (attempted.attempts().isEmpty()) {
            crashAndRestart();
          }
          insert(connection, "r2");
        });

    assertThat(effects()).isEqualTo(2);
    assertThat(attempted.outcomes()).endsWith(TxOutcome.COMMITTED).hasSizeGreaterThan(1);
  }

  @Test
  void aCrashAfterTheCommitWhoseAnswerWasLostIsSurvived() throws Exception {
    try (CommitFault fault = CommitFault.on(database)) {
      Transactor transactor = gatedTransactor(fault.dataSource());
      fault.arm(Moment.AFTER_COMMIT);
      Background<String> caller = Background.start(() -> insertWithLookup(transactor, "r1"));
      fault.awaitFired();
      down.set(true);
      crashAndRestart();
      restarted.countDown();

      assertThat(caller.result()).isEqualTo("found");
    }
    assertThat(effects()).isEqualTo(1);
    assertThat(attempted.outcomes()).containsExactly(TxOutcome.FOUND_COMMITTED);
  }

  @Test
  void aCrashInTheMiddleOfACommitIsSurvived() throws Exception {
    SlowCommit commits = SlowCommit.on(database);
    Transactor transactor = gatedTransactor(database.dataSource());
    Background<String> caller = Background.start(() -> insertWithLookup(transactor, "r1"));
    Await.blocked(database, 1);
    down.set(true);
    crashAndRestart();
    restarted.countDown();

    assertThat(caller.result()).isEqualTo("inserted");
    commits.close();
    assertThat(effects()).isEqualTo(1);
  }

  /**
   * What a crashed server had not made durable it does again, transaction ids included: a stranger
   * may then commit under the very id that is in doubt.
   */
  @Test
  void aStrangerWithTheSameTransactionIdIsNotMistakenForOurs() throws Exception {
    // Keeps the server from making the id durable by and by, before the crash.
    database.execute("ALTER SYSTEM SET wal_writer_delay = '10s'");
    database.execute("SELECT pg_reload_conf()");
    AtomicLong doubtful = new AtomicLong();
    SlowCommit commits = SlowCommit.on(database);
    Background<String> caller = insertInDoubt(doubtful);
    Await.blocked(database, 1);
    down.set(true);
    crashAndRestart();
    commits.close();
    assertThat(database.queryLong(NEXT_XID)).isLessThanOrEqualTo(doubtful.get());
    strangersCommitPast(doubtful.get());
    restarted.countDown();

    assertThat(caller.result()).isEqualTo("inserted");
    assertThat(effects()).isEqualTo(1);
  }

  /**
   * The stranger may take hours; it is no reason to wait, and none to leave the outcome unknown.
   */
  @Test
  void aStrangerThatIsStillRunningUnderTheSameTransactionIdIsNotWaitedFor() throws Exception {
    database.execute("ALTER SYSTEM SET wal_writer_delay = '10s'");
    // Its transactions would take ids, perhaps the one that the stranger is to have.
    database.execute("ALTER SYSTEM SET autovacuum = off");
    database.execute("SELECT pg_reload_conf()");
    AtomicLong doubtful = new AtomicLong();
    SlowCommit commits = SlowCommit.on(database);
    takeIdsThatAreNotMadeDurable();
    Background<String> caller = insertInDoubt(doubtful);
    Await.blocked(database, 1);
    down.set(true);
    crashAndRestart();
    commits.close();
    strangersCommitPast(doubtful.get() - 1);
    try (Connection stranger = database.connection()) {
      stranger.setAutoCommit(false);
      assertThat(Sql.query(stranger, "SELECT pg_current_xact_id()::text"))
          .isEqualTo(doubtful.get());
      restarted.countDown();

      assertThat(caller.result()).isEqualTo("inserted");
      stranger.rollback();
    }
    assertThat(effects()).isEqualTo(1);
  }

  @Test
  void manyCallersSurviveACrashAndEachEffectExistsOnce() throws Exception {
    int callers = 16;
    int each = 20;
    long all = 320;
    CountDownLatch underWay = new CountDownLatch(80);
    Transactor transactor =
        new Transactor(database.dataSource(), TxOptions.DEFAULT, attempt -> underWay.countDown());
    Background<Boolean> crash =
        Background.start(
            () -> {
              underWay.await();
              crashAndRestart();
              return true;
            });

    Race.<Boolean>of(callers)
        .run(
            caller -> {
              for (int n = 0; n < each; n++) {
                insertWithLookup(transactor, caller + "-" + n);
              }
              return true;
            })
        .valuesOrThrow();

    crash.result();
    assertThat(effects()).isEqualTo(all);
    assertThat(database.queryLong("SELECT count(DISTINCT reference) FROM effect")).isEqualTo(all);
  }

  /** So that ids are left, after the crash, for what the test itself does before the stranger. */
  private static void takeIdsThatAreNotMadeDurable() throws SQLException {
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      for (int i = 0; i < 30; i++) {
        Sql.text(connection, "SELECT pg_current_xact_id()::text");
        connection.rollback();
      }
    }
  }

  private static void strangersCommitPast(long xid) {
    database.execute("CREATE TABLE IF NOT EXISTS stranger (n int)");
    while (database.queryLong(NEXT_XID) <= xid) {
      database.execute("INSERT INTO stranger VALUES (1)");
    }
  }

  /** Begins an insert whose first attempt leaves its transaction's id in {@code doubtful}. */
  private Background<String> insertInDoubt(AtomicLong doubtful) {
    Transactor transactor = gatedTransactor(database.dataSource());
    return Background.start(
        () ->
            transactor.call(
                PATIENT,
                connection -> {
                  doubtful.compareAndSet(
                      0, Sql.query(connection, "SELECT pg_current_xact_id()::text"));
                  return insert(connection, "r1");
                },
                connection -> find(connection, "r1")));
  }

  /** While the server is down it gets no connection, and so asks only after the restart. */
  private Transactor gatedTransactor(DataSource dataSource) {
    DataSource gated =
        Tampered.gated(
            dataSource,
            () -> {
              if (down.get()) {
                awaitRestart();
              }
            });
    return new Transactor(gated, PATIENT, attempted);
  }

  private void awaitRestart() {
    try {
      assertThat(restarted.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void crashAndRestart() throws SQLException {
    database.server().crash();
    database.server().restart();
    // The pool does not test what it used a moment ago, and would give the test a broken one.
    database
        .dataSource()
        .unwrap(HikariDataSource.class)
        .getHikariPoolMXBean()
        .softEvictConnections();
  }

  private static String insertWithLookup(Transactor transactor, String reference) {
    return transactor.call(
        PATIENT,
        connection -> insert(connection, reference),
        connection -> find(connection, reference));
  }

  private static String insert(Connection connection, String reference) throws SQLException {
    Sql.execute(connection, "INSERT INTO effect VALUES (?)", reference);
    return "inserted";
  }

  private static Optional<String> find(Connection connection, String reference)
      throws SQLException {
    long found =
        Sql.query(connection, "SELECT count(*) FROM effect WHERE reference = ?", reference);
    return found == 0 ? Optional.empty() : Optional.of("found");
  }

  private static long effects() {
    return database.queryLong(EFFECTS);
  }
}
