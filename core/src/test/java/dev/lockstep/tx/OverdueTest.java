package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.TransactionTimeout;
import dev.lockstep.fault.TransientFault;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.TxAttempt.TxOutcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The server ends a transaction that keeps it waiting or takes too long. Once that may be a process
 * that stood still; the second time the work is too slow, and its caller is told what to change.
 */
class OverdueTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final String INSERT = "INSERT INTO item VALUES (1)";
  private static final Duration BRIEF = Duration.ofMillis(500);
  private static final TxOptions BRIEFLY_IDLE = TxOptions.DEFAULT.withIdleTimeout(BRIEF);
  private static final TxOptions BRIEF_IN_ALL =
      TxOptions.DEFAULT
          .withLockTimeout(BRIEF)
          .withStatementTimeout(BRIEF)
          .withTransactionTimeout(BRIEF);

  private final Attempted attempted = new Attempted();
  private final AtomicInteger runs = new AtomicInteger();
  private final Transactor transactor =
      new Transactor(database.dataSource(), TxOptions.DEFAULT, attempted);

  @BeforeEach
  void table() {
    database.execute("DROP TABLE IF EXISTS item; CREATE TABLE item (id int)");
  }

  @Test
  void workThatPausesTooLongBetweenTwoStatementsIsToldSoAndNotRunAThirdTime() {
    assertThatThrownBy(
            () ->
                transactor.run(
                    BRIEFLY_IDLE,
                    connection -> {
                      pause(connection);
                      Sql.execute(connection, INSERT);
                    }))
        .isInstanceOf(TransactionTimeout.class)
        .isInstanceOf(TransientFault.class)
        .hasMessageContaining("paused for longer than idleTimeout (PT0.5S)")
        .hasMessageContaining("TxOptions.idleTimeout");

    assertThat(runs).hasValue(2);
    assertThat(attempted.outcomes()).containsExactly(TxOutcome.RETRIED, TxOutcome.FAILED);
    assertThat(database.queryLong("SELECT count(*) FROM item")).isZero();
  }

  @Test
  void workThatPausesTooLongBeforeItReturnsIsToldTheSame() {
    assertThatThrownBy(() -> transactor.run(BRIEFLY_IDLE, this::pause))
        .isInstanceOf(TransactionTimeout.class)
        .hasMessageContaining("idleTimeout");

    assertThat(runs).hasValue(2);
  }

  /** It takes several writes, of which a later one fails: the server's word is never read. */
  @Test
  void soIsWorkWhoseNextStatementIsLarge() {
    assertThatThrownBy(
            () ->
                transactor.run(
                    BRIEFLY_IDLE,
                    connection -> {
                      pause(connection);
                      Sql.execute(connection, "SELECT '" + "x".repeat(20_000_000) + "'");
                    }))
        .isInstanceOf(TransactionTimeout.class)
        .hasMessageContaining("idleTimeout");

    assertThat(runs).hasValue(2);
  }

  @Test
  void soItIsWhenALibraryInBetweenWrapsWhatTheDriverThrew() {
    assertThatThrownBy(
            () ->
                transactor.run(
                    BRIEFLY_IDLE,
                    connection -> {
                      pause(connection);
                      try {
                        Sql.execute(connection, INSERT);
                      } catch (SQLException e) {
                        throw new IllegalStateException("as others do", e);
                      }
                    }))
        .isInstanceOf(TransactionTimeout.class)
        .hasMessageContaining("idleTimeout");

    assertThat(runs).hasValue(2);
  }

  @Test
  void aPauseThatDoesNotComeAgainIsNotHeardOf() {
    transactor.run(
        BRIEFLY_IDLE,
        connection -> {
          Sql.execute(connection, INSERT);
          if (runs.get() == 0) {
            pause(connection);
          }
        });

    assertThat(attempted.outcomes()).containsExactly(TxOutcome.RETRIED, TxOutcome.COMMITTED);
    assertThat(database.queryLong("SELECT count(*) FROM item")).isEqualTo(1);
  }

  @Test
  void aChainOfQuickStatementsThatTakesTooLongIsToldSo() {
    assumeThat(serverVersion()).isGreaterThanOrEqualTo(17);

    assertThatThrownBy(
            () ->
                transactor.run(
                    BRIEF_IN_ALL,
                    connection -> {
                      runs.incrementAndGet();
                      while (true) {
                        Sql.execute(connection, INSERT);
                        Sql.execute(connection, "SELECT pg_sleep(0.02)");
                      }
                    }))
        .isInstanceOf(TransactionTimeout.class)
        .hasMessageContaining("took longer than transactionTimeout (PT0.5S)")
        .hasMessageContaining("TxOptions.transactionTimeout");

    assertThat(runs).hasValue(2);
  }

  /** Whoever hears nothing but that the session was ended can not know how far COMMIT had come. */
  @Test
  void inCommitItIsInDoubtAsAnyLostConnectionIs() {
    assumeThat(serverVersion()).isGreaterThanOrEqualTo(17);
    commitsSlowly(20);

    assertThatThrownBy(() -> transactor.run(BRIEF_IN_ALL, c -> Sql.execute(c, INSERT)))
        .isInstanceOf(OutcomeUnknown.class);
    assertThatThrownBy(
            () ->
                transactor.call(
                    BRIEF_IN_ALL,
                    c -> Sql.execute(c, INSERT),
                    c ->
                        Sql.query(c, "SELECT count(*) FROM item") == 0
                            ? Optional.empty()
                            : Optional.of(1)))
        .as("looked up, and not there")
        .isInstanceOf(TransactionTimeout.class);
    assertThat(database.queryLong("SELECT count(*) FROM item")).isZero();
  }

  @Test
  void aStatementMayTakeAllTheTimeThatItsOwnTimeoutGivesIt() {
    TxOptions patient = TxOptions.DEFAULT.withTransactionTimeout(Duration.ofMillis(100));

    transactor.run(patient, c -> Sql.execute(c, "SELECT pg_sleep(0.5)"));

    assertThat(attempted.outcomes()).containsExactly(TxOutcome.COMMITTED);
  }

  private void pause(Connection connection) throws SQLException {
    runs.incrementAndGet();
    long pid = Sql.pid(connection);
    Await.until(
        "the server has ended the session",
        () -> database.queryLong("SELECT count(*) FROM pg_stat_activity WHERE pid = " + pid) == 0);
  }

  private static void commitsSlowly(int seconds) {
    database.execute(
        """
        CREATE OR REPLACE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN PERFORM pg_sleep(%d); RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER dawdle AFTER INSERT ON item
          DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION dawdle()"""
            .formatted(seconds));
  }

  private static long serverVersion() {
    return database.queryLong("SELECT current_setting('server_version_num')::int / 10000");
  }
}
