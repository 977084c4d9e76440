package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.lockstep.fault.ConstraintViolated;
import dev.lockstep.fault.SerializationConflict;
import dev.lockstep.fault.StatementFailed;
import dev.lockstep.fault.TransactionDoomed;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.TxAttempt.TxOutcome;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A call inside a call is part of the outer transaction, for better and for worse. */
class JoiningTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final TxOptions SERIALIZABLE =
      TxOptions.DEFAULT.withIsolation(Isolation.SERIALIZABLE);

  private final Attempted attempted = new Attempted();
  private final Transactor transactor =
      new Transactor(database.dataSource(), TxOptions.DEFAULT, attempted);

  @BeforeEach
  void noEntryYet() {
    database.execute("DROP TABLE IF EXISTS entry; CREATE TABLE entry (id int PRIMARY KEY)");
  }

  @Test
  void aJoinedCallSeesTheOuterChangesAndCommitsWithThem() {
    long seen =
        transactor.call(
            outer -> {
              insert(outer, 1);
              return transactor.call(
                  inner -> {
                    assertThat(inner).isSameAs(outer);
                    insert(inner, 2);
                    return Sql.query(inner, "SELECT count(*) FROM entry");
                  });
            });

    assertThat(seen).isEqualTo(2);
    assertThat(entries()).isEqualTo(2);
    assertThat(attempted.outcomes()).as("one transaction").containsExactly(TxOutcome.COMMITTED);
  }

  @Test
  void aJoinedCallIsUndoneWithTheOuterOne() {
    assertThatThrownBy(
            () ->
                transactor.run(
                    outer -> {
                      transactor.run(inner -> insert(inner, 1));
                      throw new IllegalArgumentException("changed my mind");
                    }))
        .hasMessage("changed my mind");

    assertThat(entries()).isZero();
  }

  @Test
  void aJoinedCallThatFailedDoomsTheWholeEvenIfItsExceptionIsSwallowed() {
    assertThatThrownBy(
            () ->
                transactor.run(
                    outer -> {
                      insert(outer, 1);
                      Throwable swallowed =
                          catchThrowable(
                              () ->
                                  transactor.run(
                                      inner -> {
                                        insert(inner, 2);
                                        throw new IllegalArgumentException("half way");
                                      }));
                      assertThat(swallowed).hasMessage("half way");
                      insert(outer, 3);
                    }))
        .isInstanceOf(TransactionDoomed.class)
        .hasRootCauseMessage("half way");

    assertThat(entries()).isZero();
    assertThat(attempted.outcomes()).containsExactly(TxOutcome.FAILED);
  }

  @Test
  void aSwallowedConflictOfAJoinedCallRunsTheWholeAgain() {
    transactor.run(
        outer -> {
          insert(outer, 1);
          if (attempted.attempts().isEmpty()) {
            Throwable swallowed = catchThrowable(() -> transactor.run(JoiningTest::conflict));
            assertThat(swallowed).isInstanceOf(SerializationConflict.class);
          }
        });

    assertThat(entries()).isEqualTo(1);
    assertThat(attempted.outcomes()).containsExactly(TxOutcome.RETRIED, TxOutcome.COMMITTED);
  }

  @Test
  void aJoinedCallThatNeedsMoreIsolationIsRefused() {
    assertThatThrownBy(() -> transactor.run(outer -> transactor.run(SERIALIZABLE, inner -> {})))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("SERIALIZABLE")
        .hasMessageContaining("READ_COMMITTED");
  }

  @Test
  void aJoinedCallThatNeedsLessIsolationIsWelcome() {
    TxOptions repeatable = TxOptions.DEFAULT.withIsolation(Isolation.REPEATABLE_READ);

    transactor.run(
        SERIALIZABLE,
        outer -> {
          transactor.run(repeatable, inner -> insert(inner, 1));
          transactor.run(inner -> insert(inner, 2));
        });

    assertThat(entries()).isEqualTo(2);
  }

  @Test
  void aWritingCallDoesNotJoinAReadOnlyOne() {
    TxOptions readOnly = TxOptions.DEFAULT.asReadOnly();

    assertThatThrownBy(
            () -> transactor.run(readOnly, outer -> transactor.run(inner -> insert(inner, 1))))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("read-only");
    transactor.run(outer -> transactor.run(readOnly, inner -> insert(outer, 1)));

    assertThat(entries()).isEqualTo(1);
  }

  @Test
  void theDatabaseRefusesAWriteInAReadOnlyTransaction() {
    assertThatThrownBy(
            () ->
                transactor.run(TxOptions.DEFAULT.asReadOnly(), connection -> insert(connection, 1)))
        .isInstanceOf(StatementFailed.class)
        .hasCauseInstanceOf(SQLException.class);

    assertThat(entries()).isZero();
  }

  @Test
  void transactorsOfTheirOwnDoNotJoin() {
    Transactor another = new Transactor(database.dataSource());

    assertThatThrownBy(
            () ->
                transactor.run(
                    outer -> {
                      another.run(inner -> insert(inner, 1));
                      throw new IllegalArgumentException("changed my mind");
                    }))
        .hasMessage("changed my mind");

    assertThat(entries()).isEqualTo(1);
  }

  @Test
  void anotherThreadDoesNotJoin() {
    transactor.run(
        outer -> {
          Background<Boolean> other =
              Background.start(
                  () ->
                      transactor.call(
                          connection -> {
                            insert(connection, 1);
                            return connection != outer;
                          }));
          assertThat(resultOf(other)).isTrue();
          assertThat(entries()).as("committed on its own").isEqualTo(1);
        });
  }

  @Test
  void onlyTheOutermostCallMayBringALookup() {
    assertThatThrownBy(
            () ->
                transactor.run(
                    outer ->
                        transactor.call(
                            TxOptions.DEFAULT, inner -> "done", inner -> Optional.of("found"))))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(
            () ->
                transactor.call(
                    TxOptions.DEFAULT.asReadOnly(), c -> "read", c -> Optional.of("found")))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aFailureLeavesTheThreadOutsideAnyTransaction() {
    assertThatThrownBy(() -> transactor.run(JoiningTest::violate))
        .isInstanceOf(ConstraintViolated.class);

    transactor.run(connection -> insert(connection, 1));

    assertThat(entries()).isEqualTo(1);
    assertThatThrownBy(() -> transactor.nested(connection -> "nowhere"))
        .isInstanceOf(IllegalStateException.class);
  }

  /** Kotlin has no checked exceptions, and Lombok hides them. */
  @Test
  void workThatThrowsACheckedExceptionUndeclaredIsRolledBackAsAnyOther() {
    IOException undeclared = new IOException("undeclared");

    assertThatThrownBy(() -> transactor.run(connection -> insertAndThrow(connection, undeclared)))
        .isSameAs(undeclared);

    assertThat(entries()).isZero();
    assertThat(attempted.outcomes()).containsExactly(TxOutcome.FAILED);
  }

  @Test
  void aJoinedCallThatThrowsACheckedExceptionUndeclaredDoomsTheWhole() {
    IOException undeclared = new IOException("undeclared");

    assertThatThrownBy(
            () ->
                transactor.run(
                    outer ->
                        assertThatThrownBy(
                                () -> transactor.run(inner -> insertAndThrow(inner, undeclared)))
                            .isSameAs(undeclared)))
        .isInstanceOf(TransactionDoomed.class)
        .hasCause(undeclared);

    assertThat(entries()).isZero();
  }

  private static void insertAndThrow(Connection connection, Throwable thrown) throws SQLException {
    insert(connection, 1);
    Undeclared.<RuntimeException>raise(thrown);
  }

  private static boolean resultOf(Background<Boolean> other) {
    try {
      return other.result();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  static void conflict(Connection connection) throws SQLException {
    Sql.execute(connection, "DO $$ BEGIN RAISE serialization_failure; END $$");
  }

  private static void violate(Connection connection) throws SQLException {
    insert(connection, 1);
    insert(connection, 1);
  }

  private static void insert(Connection connection, int id) throws SQLException {
    Sql.execute(connection, "INSERT INTO entry VALUES (?)", id);
  }

  private static long entries() {
    return database.queryLong("SELECT count(*) FROM entry");
  }
}
