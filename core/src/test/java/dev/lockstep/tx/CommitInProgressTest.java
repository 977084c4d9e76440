package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.LockTimeout;
import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.testkit.CommitFault;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.TxAttempt.TxOutcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The connection is lost while the server is still busy with COMMIT. Whoever looks now does not
 * find the effect, and would do it a second time.
 */
class CommitInProgressTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final String EFFECTS = "SELECT count(*) FROM effect";

  private final Attempted attempted = new Attempted();
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicInteger lookups = new AtomicInteger();
  private CommitFault network;
  private SlowCommit commits;

  @BeforeEach
  void slowCommitsOverANetwork() throws SQLException {
    commits = SlowCommit.on(database);
    network = CommitFault.on(database);
  }

  @AfterEach
  void close() {
    commits.close();
    network.close();
  }

  @Test
  void aPlainLookSaysAbsentAndOursWaitsAndFindsIt() throws Exception {
    Background<String> caller = insertInBackground(TxOptions.DEFAULT);
    Await.blocked(database, 1);
    network.proxy().cut();

    assertThat(database.queryLong(EFFECTS)).as("a plain look").isZero();
    // The first connection was lost; each one after it asked, and was told to wait.
    Await.until("ours has asked twice", () -> connections.get() >= 3);
    assertThat(lookups).hasValue(0);
    commits.release();

    assertThat(caller.result()).isEqualTo("found");
    assertThat(database.queryLong(EFFECTS)).isEqualTo(1);
    assertThat(lookups).hasValue(1);
    assertThat(attempted.outcomes()).containsExactly(TxOutcome.FOUND_COMMITTED);
  }

  @Test
  void aCommitPastItsDeadlineIsCutAndThenLookedUp() throws Exception {
    // Long enough to reach COMMIT; the rest of it is spent waiting there.
    Background<String> caller =
        insertInBackground(TxOptions.DEFAULT.withDeadline(Duration.ofSeconds(2)));
    Await.blocked(database, 1);
    Await.until("the deadline has cut it", () -> connections.get() >= 2);
    commits.release();

    assertThat(caller.result()).isEqualTo("found");
    assertThat(database.queryLong(EFFECTS)).isEqualTo(1);
  }

  @Test
  void aCommitPastItsDeadlineIsUnknownWithoutALookup() throws Exception {
    Transactor transactor = new Transactor(network.dataSource(), TxOptions.DEFAULT, attempted);
    TxOptions brief = TxOptions.DEFAULT.withDeadline(Duration.ofMillis(500));

    assertThatThrownBy(() -> transactor.call(brief, CommitInProgressTest::insertPatiently))
        .isInstanceOf(OutcomeUnknown.class);

    assertThat(attempted.outcomes()).containsExactly(TxOutcome.UNKNOWN);
    commits.release();
    Await.until("it was committed after all", () -> database.queryLong(EFFECTS) == 1);
  }

  @Test
  void aCommitThatNeverEndsIsUnknownInBoundedTime() {
    Background<String> caller =
        insertInBackground(TxOptions.DEFAULT.withDeadline(Duration.ofMillis(500)));

    assertThatThrownBy(caller::result).isInstanceOf(OutcomeUnknown.class);
    assertThat(lookups).hasValue(0);
  }

  @Test
  void aCommitThatTheServerItselfGaveUpIsRolledBackForCertain() {
    TxOptions brief = TxOptions.DEFAULT.withLockTimeout(Duration.ofMillis(50));
    Transactor transactor = new Transactor(network.dataSource(), brief, attempted);

    assertThatThrownBy(
            () ->
                transactor.run(
                    connection -> Sql.execute(connection, "INSERT INTO effect VALUES ('r1')")))
        .isInstanceOf(LockTimeout.class);

    assertThat(attempted.outcomes()).containsExactly(TxOutcome.FAILED);
    assertThat(database.queryLong(EFFECTS)).isZero();
  }

  private Background<String> insertInBackground(TxOptions options) {
    DataSource counted = Tampered.gated(network.dataSource(), () -> connections.incrementAndGet());
    Transactor transactor = new Transactor(counted, options, attempted);
    return Background.start(
        () ->
            transactor.call(
                options,
                CommitInProgressTest::insertPatiently,
                connection -> {
                  lookups.incrementAndGet();
                  return Sql.query(connection, EFFECTS) == 0
                      ? Optional.empty()
                      : Optional.of("found");
                }));
  }

  /** Without the server's own timeouts, which would end the wait before the deadline does. */
  private static String insertPatiently(Connection connection) throws SQLException {
    Sql.execute(connection, "SET LOCAL statement_timeout = 0");
    Sql.execute(connection, "SET LOCAL lock_timeout = 0");
    Sql.execute(connection, "INSERT INTO effect VALUES ('r1')");
    return "inserted";
  }
}
