package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.DeadlineExceeded;
import dev.lockstep.fault.LockTimeout;
import dev.lockstep.fault.StatementTimeout;
import dev.lockstep.fault.TransientFault;
import dev.lockstep.testkit.CommitFault;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.TxAttempt.TxOutcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Every wait has an end, its own exception, and leaves nothing behind. */
class TimeoutsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final Duration BRIEF = Duration.ofMillis(100);
  private static final String INSERT = "INSERT INTO item VALUES (2)";

  private final Attempted attempted = new Attempted();
  private final Transactor transactor =
      new Transactor(database.dataSource(), TxOptions.DEFAULT, attempted);

  @BeforeEach
  void oneItem() {
    database.execute(
        "DROP TABLE IF EXISTS item; CREATE TABLE item (id int); INSERT INTO item VALUES (1)");
  }

  @AfterEach
  void theDatabaseIsStillUsableAndHoldsOneItem() {
    long items = transactor.call(connection -> Sql.query(connection, "SELECT count(*) FROM item"));
    assertThat(items).isEqualTo(1);
  }

  @Test
  void aLockThatIsNotGrantedInTimeIsALockTimeout() throws SQLException {
    try (Connection holder = database.connection()) {
      holder.setAutoCommit(false);
      Sql.execute(holder, "SELECT id FROM item FOR UPDATE");

      assertThatThrownBy(
              () ->
                  transactor.run(
                      TxOptions.DEFAULT.withLockTimeout(BRIEF),
                      connection -> {
                        Sql.execute(connection, INSERT);
                        Sql.execute(connection, "DELETE FROM item WHERE id = 1");
                      }))
          .isInstanceOf(LockTimeout.class)
          .isInstanceOf(TransientFault.class);
      holder.rollback();
    }
    assertThat(attempted.outcomes()).as("not tried again").containsExactly(TxOutcome.FAILED);
  }

  @Test
  void aLockAskedForWithoutWaitingIsALockTimeoutToo() throws SQLException {
    try (Connection holder = database.connection()) {
      holder.setAutoCommit(false);
      Sql.execute(holder, "SELECT id FROM item FOR UPDATE");

      assertThatThrownBy(
              () ->
                  transactor.run(
                      connection ->
                          Sql.execute(connection, "SELECT id FROM item FOR UPDATE NOWAIT")))
          .isInstanceOf(LockTimeout.class);
      holder.rollback();
    }
  }

  @Test
  void aStatementThatRunsTooLongIsAStatementTimeout() {
    TxOptions brief = TxOptions.DEFAULT.withLockTimeout(BRIEF).withStatementTimeout(BRIEF);

    assertThatThrownBy(
            () ->
                transactor.run(
                    brief,
                    connection -> {
                      Sql.execute(connection, INSERT);
                      Sql.execute(connection, "SELECT pg_sleep(60)");
                    }))
        .isInstanceOf(StatementTimeout.class)
        .isInstanceOf(TransientFault.class);
    assertThat(attempted.outcomes()).containsExactly(TxOutcome.FAILED);
  }

  @Test
  void theDeadlineEndsAChainOfStatementsEachOfWhichIsQuick() {
    assertThatThrownBy(
            () ->
                transactor.run(
                    TxOptions.DEFAULT.withDeadline(Duration.ofMillis(300)),
                    connection -> {
                      while (true) {
                        Sql.execute(connection, INSERT);
                        Sql.execute(connection, "SELECT pg_sleep(0.02)");
                      }
                    }))
        .isInstanceOf(DeadlineExceeded.class);
    assertThat(attempted.outcomes()).containsExactly(TxOutcome.FAILED);
  }

  @Test
  void theDeadlineEndsOneLongStatement() {
    assertThatThrownBy(
            () ->
                transactor.run(
                    TxOptions.DEFAULT.withDeadline(Duration.ofMillis(300)),
                    connection -> {
                      Sql.execute(connection, INSERT);
                      Sql.execute(connection, "SELECT pg_sleep(60)");
                    }))
        .isInstanceOf(DeadlineExceeded.class);
  }

  @Test
  void theDeadlineEndsAWaitForALock() throws SQLException {
    try (Connection holder = database.connection()) {
      holder.setAutoCommit(false);
      Sql.execute(holder, "SELECT id FROM item FOR UPDATE");

      assertThatThrownBy(
              () ->
                  transactor.run(
                      TxOptions.DEFAULT.withDeadline(Duration.ofMillis(300)),
                      connection -> Sql.execute(connection, "DELETE FROM item WHERE id = 1")))
          .isInstanceOf(DeadlineExceeded.class);
      holder.rollback();
    }
  }

  @Test
  void aFunctionThatDawdlesOutsideTheDatabaseIsNotCommittedAfterItsDeadline() {
    assertThatThrownBy(
            () ->
                transactor.run(
                    TxOptions.DEFAULT.withDeadline(Duration.ofMillis(300)),
                    connection -> {
                      Sql.execute(connection, INSERT);
                      Await.until("cut off", () -> isGone(connection));
                    }))
        .isInstanceOf(DeadlineExceeded.class);
  }

  @Test
  void theDeadlineFreesACallerFromASilentNetwork() {
    try (CommitFault network = CommitFault.on(database)) {
      Transactor remote = new Transactor(network.dataSource());

      assertThatThrownBy(
              () ->
                  remote.run(
                      TxOptions.DEFAULT.withDeadline(Duration.ofSeconds(1)),
                      connection -> {
                        Sql.execute(connection, INSERT);
                        network.proxy().stall();
                        Sql.query(connection, "SELECT 1");
                      }))
          .isInstanceOf(DeadlineExceeded.class);
    }
    Await.until(
        "the server noticed",
        () -> database.queryLong("SELECT count(*) FROM pg_locks WHERE mode LIKE 'RowExcl%'") == 0);
  }

  @Test
  void aDeadlineThatPassedWhileWaitingForAConnectionIsNotSpentOnATransaction() {
    CountDownLatch never = new CountDownLatch(1);
    Transactor slow =
        new Transactor(Tampered.gated(database.dataSource(), () -> awaitInVain(never)));

    assertThatThrownBy(
            () ->
                slow.run(
                    TxOptions.DEFAULT.withDeadline(BRIEF),
                    connection -> {
                      throw new AssertionError("must not be run");
                    }))
        .isInstanceOf(DeadlineExceeded.class);
  }

  private static boolean isGone(Connection connection) {
    try {
      return !connection.isValid(1);
    } catch (SQLException e) {
      return true;
    }
  }

  private static void awaitInVain(CountDownLatch never) {
    try {
      assertThat(never.await(200, TimeUnit.MILLISECONDS)).isFalse();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
