package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.fault.DeadlineExceeded;
import dev.lockstep.fault.LockstepException;
import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.StatementFailed;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Tampered.Tampering;
import dev.lockstep.tx.TxAttempt.TxOutcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pools and drivers fail outside the statements too: before, around and after COMMIT. */
class UncooperativePoolTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private final Attempted attempted = new Attempted();

  @BeforeEach
  void noEffectYet() {
    database.execute("DROP TABLE IF EXISTS effect; CREATE TABLE effect (reference text)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"08006", "40001", "XX000"})
  void aConnectionThatCannotBeClosedAfterCommitDoesNotUndoOrRepeatIt(String state) {
    AtomicBoolean failed = new AtomicBoolean();
    Transactor transactor =
        transactor(
            (method, call) -> {
              Object result = call.proceed();
              if (method.equals("close")) {
                failed.set(true);
                throw new SQLException("cannot close", state);
              }
              return result;
            });

    transactor.run(UncooperativePoolTest::insert);

    assertThat(failed).isTrue();
    assertThat(effects()).isEqualTo(1);
    assertThat(attempted.outcomes()).containsExactly(TxOutcome.COMMITTED);
  }

  @Test
  void aConnectionThatCannotBeRestoredAfterCommitDoesNotRepeatIt() {
    AtomicInteger restored = new AtomicInteger();
    Transactor transactor =
        transactor(
            (method, call) -> {
              Object result = call.proceed();
              if (method.equals("setAutoCommit") && restored.getAndIncrement() > 0) {
                throw new IllegalStateException("cannot restore");
              }
              return result;
            });

    transactor.run(UncooperativePoolTest::insert);

    assertThat(restored).as("begun and restored").hasValue(2);
    assertThat(effects()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"close", "setAutoCommit"})
  void anErrorOfThePoolAfterCommitDoesNotUndoOrRepeatIt(String failing) {
    AtomicInteger failed = new AtomicInteger();
    Transactor transactor =
        transactor(
            (method, call) -> {
              Object result = call.proceed();
              if (method.equals(failing) && effects() == 1) {
                failed.incrementAndGet();
                throw new NoClassDefFoundError("the pool is being unloaded");
              }
              return result;
            });

    transactor.run(UncooperativePoolTest::insert);

    assertThat(failed).hasValue(1);
    assertThat(effects()).isEqualTo(1);
    assertThat(attempted.outcomes()).containsExactly(TxOutcome.COMMITTED);
  }

  @Test
  void anErrorInRollbackDoesNotCommitByGivingTheConnectionBack() {
    Transactor transactor =
        transactor(
            (method, call) -> {
              if (method.equals("rollback")) {
                throw new NoClassDefFoundError("the pool is being unloaded");
              }
              return call.proceed();
            });

    assertThatThrownBy(
            () ->
                transactor.run(
                    connection -> {
                      insert(connection);
                      throw new IllegalArgumentException("changed my mind");
                    }))
        .hasMessage("changed my mind");

    assertThat(effects()).isZero();
  }

  @Test
  void anErrorOfThePoolThatIsToCutAConnectionDoesNotEndTheWatchOverOthers() {
    AtomicInteger cuts = new AtomicInteger();
    AtomicInteger noticed = new AtomicInteger();
    Transactor transactor =
        transactor(
            (method, call) -> {
              if (method.equals("abort")) {
                cuts.incrementAndGet();
                throw new AbstractMethodError("abort");
              }
              return call.proceed();
            });

    for (int call = 1; call <= 2; call++) {
      int expected = call;
      assertThatThrownBy(
              () ->
                  transactor.run(
                      TxOptions.DEFAULT.withDeadline(Duration.ofMillis(300)),
                      connection -> {
                        // Never idle, or the server would end it.
                        while (cuts.get() < expected) {
                          Sql.query(connection, "SELECT 1");
                        }
                        noticed.incrementAndGet();
                      }))
          .isInstanceOf(DeadlineExceeded.class);
      assertThat(noticed).hasValue(call);
    }
  }

  @Test
  void aTransactionThatCannotBeRolledBackIsNotCommittedByGivingTheConnectionBack() {
    Transactor transactor =
        transactor(
            (method, call) -> {
              if (method.equals("rollback")) {
                throw new SQLException("cannot roll back", "XX000");
              }
              return call.proceed();
            });

    assertThatThrownBy(
            () ->
                transactor.run(
                    connection -> {
                      insert(connection);
                      throw new IllegalArgumentException("changed my mind");
                    }))
        .hasMessage("changed my mind")
        .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));

    assertThat(effects()).isZero();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aDriverThatBreaksInsideCommitLeavesTheOutcomeUnknown(boolean arrived) {
    Transactor transactor =
        transactor(
            (method, call) -> {
              if (!method.equals("commit")) {
                return call.proceed();
              }
              if (arrived) {
                call.proceed();
              }
              throw new StackOverflowError("in the driver");
            });

    assertThatThrownBy(() -> transactor.run(UncooperativePoolTest::insert))
        .isInstanceOf(OutcomeUnknown.class)
        .hasCauseInstanceOf(StackOverflowError.class);

    assertThat(effects()).isEqualTo(arrived ? 1 : 0);
    assertThat(attempted.outcomes()).containsExactly(TxOutcome.UNKNOWN);
  }

  @Test
  void anErrorWithoutAStateAtCommitIsLookedUp() {
    AtomicBoolean first = new AtomicBoolean(true);
    Transactor transactor =
        transactor(
            (method, call) -> {
              Object result = call.proceed();
              if (method.equals("commit") && first.getAndSet(false)) {
                throw new SQLException("something went wrong");
              }
              return result;
            });

    String answer =
        transactor.call(
            TxOptions.DEFAULT,
            connection -> {
              insert(connection);
              return "inserted";
            },
            connection -> Optional.of("found"));

    assertThat(answer).isEqualTo("found");
    assertThat(effects()).isEqualTo(1);
  }

  @Test
  void aPoolOfOneConnectionIsEnoughToAskWhatBecameOfACommit() {
    AtomicBoolean first = new AtomicBoolean(true);
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(database.url());
    config.setUsername(database.user());
    config.setPassword(database.password());
    config.setMaximumPoolSize(1);
    config.setConnectionTimeout(5_000);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      Tampering lostAtFirst =
          (method, call) -> {
            Object result = call.proceed();
            if (method.equals("commit") && first.getAndSet(false)) {
              throw new SQLException("lost", "08006");
            }
            return result;
          };
      Transactor transactor =
          new Transactor(Tampered.connections(pool, lostAtFirst), TxOptions.DEFAULT, attempted);

      transactor.call(
          TxOptions.DEFAULT,
          connection -> {
            insert(connection);
            return "inserted";
          },
          connection -> effects() == 1 ? Optional.of("found") : Optional.empty());
    }

    assertThat(effects()).isEqualTo(1);
    assertThat(attempted.outcomes()).containsExactly(TxOutcome.FOUND_COMMITTED);
    assertThat(attempted.attempts().get(0).fault()).isEmpty();
  }

  @Test
  void aPoolWhoseConnectionsAreNotInAutoCommitModeGetsThemBackThatWay() throws SQLException {
    try (Connection pooled = database.connection()) {
      pooled.setAutoCommit(false);
      Transactor transactor =
          Transactor.onManualCommitPool(
              Tampered.single(database.dataSource(), pooled), TxOptions.DEFAULT, attempted);

      transactor.run(UncooperativePoolTest::insert);

      assertThat(pooled.getAutoCommit()).isFalse();
    }
    assertThat(effects()).isEqualTo(1);
  }

  /** Abort is how the deadline cuts a connection; not every pool passes it on. */
  @Test
  void nothingIsCommittedAfterTheDeadlineThoughThePoolDoesNotCutTheConnection() {
    CountDownLatch deadlinePassed = new CountDownLatch(1);
    Transactor transactor =
        transactor(
            (method, call) -> {
              if (method.equals("abort")) {
                deadlinePassed.countDown();
                throw new SQLFeatureNotSupportedException("abort");
              }
              return call.proceed();
            });

    assertThatThrownBy(
            () ->
                transactor.run(
                    TxOptions.DEFAULT.withDeadline(Duration.ofMillis(300)),
                    connection -> {
                      insert(connection);
                      stayBusyUntil(deadlinePassed, connection);
                    }))
        .isInstanceOf(DeadlineExceeded.class);

    assertThat(effects()).isZero();
  }

  /** Over a network that is silent ROLLBACK would hold the caller, whose deadline has passed. */
  @Test
  void aConnectionPastItsDeadlineIsNotAskedToRollBack() {
    CountDownLatch deadlinePassed = new CountDownLatch(1);
    AtomicInteger asked = new AtomicInteger();
    Transactor transactor =
        transactor(
            (method, call) -> {
              if (method.equals("abort")) {
                deadlinePassed.countDown();
                throw new SQLFeatureNotSupportedException("abort");
              }
              if (method.equals("rollback")) {
                asked.incrementAndGet();
              }
              return call.proceed();
            });

    assertThatThrownBy(
            () ->
                transactor.run(
                    TxOptions.DEFAULT.withDeadline(Duration.ofMillis(300)),
                    connection -> {
                      insert(connection);
                      stayBusyUntil(deadlinePassed, connection);
                      throw new IllegalArgumentException("too late");
                    }))
        .isInstanceOf(LockstepException.class);

    assertThat(asked).hasValue(0);
    assertThat(effects()).isZero();
  }

  @Test
  void anErrorSwallowedByTheFunctionIsNeverReportedAsCommitted() {
    Transactor transactor = new Transactor(database.dataSource(), TxOptions.DEFAULT, attempted);

    assertThatThrownBy(
            () ->
                transactor.run(
                    connection -> {
                      insert(connection);
                      try {
                        Sql.execute(connection, "SELECT 1/0");
                      } catch (SQLException swallowed) {
                        // The server has given the transaction up; COMMIT will roll it back.
                      }
                    }))
        .isInstanceOf(StatementFailed.class);

    assertThat(effects()).isZero();
    assertThat(attempted.outcomes()).containsExactly(TxOutcome.FAILED);
  }

  private Transactor transactor(Tampering tampering) {
    return new Transactor(
        Tampered.connections(database.dataSource(), tampering), TxOptions.DEFAULT, attempted);
  }

  /** A connection that is idle would be ended by the server. */
  private static void stayBusyUntil(CountDownLatch moment, Connection connection)
      throws SQLException {
    while (moment.getCount() > 0) {
      Sql.query(connection, "SELECT 1");
    }
  }

  private static void insert(Connection connection) throws SQLException {
    Sql.execute(connection, "INSERT INTO effect VALUES ('r1')");
  }

  private static long effects() {
    return database.queryLong("SELECT count(*) FROM effect");
  }
}
