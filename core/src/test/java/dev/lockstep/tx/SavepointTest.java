package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.lockstep.fault.ConstraintViolated;
import dev.lockstep.fault.DatabaseUnavailable;
import dev.lockstep.fault.SerializationConflict;
import dev.lockstep.fault.TransactionDoomed;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.TxAttempt.TxOutcome;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A savepoint confines a failure, except the kinds that only a new transaction can cure. */
class SavepointTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private final Attempted attempted = new Attempted();
  private final Transactor transactor =
      new Transactor(database.dataSource(), TxOptions.DEFAULT, attempted);

  @BeforeEach
  void noEntryYet() {
    database.execute("DROP TABLE IF EXISTS entry; CREATE TABLE entry (id int PRIMARY KEY)");
  }

  @Test
  void onlyTheNestedWorkIsUndone() {
    transactor.run(
        connection -> {
          insert(connection, 1);
          Throwable confined =
              catchThrowable(
                  () ->
                      transactor.nested(
                          c -> {
                            insert(c, 2);
                            return insert(c, 1);
                          }));
          assertThat(confined).isInstanceOf(ConstraintViolated.class);
          insert(connection, 3);
        });

    assertThat(entries()).containsExactly(1, 3);
  }

  @Test
  void nestedWorkThatThrowsACheckedExceptionUndeclaredIsUndone() {
    IOException undeclared = new IOException("undeclared");

    transactor.run(
        connection -> {
          insert(connection, 1);
          assertThatThrownBy(
                  () ->
                      transactor.nested(
                          c -> {
                            insert(c, 2);
                            Undeclared.<RuntimeException>raise(undeclared);
                            return "never";
                          }))
              .isSameAs(undeclared);
        });

    assertThat(entries()).containsExactly(1);
  }

  @Test
  void savepointsNest() {
    transactor.run(
        connection -> {
          insert(connection, 1);
          transactor.nested(
              outer -> {
                insert(outer, 2);
                assertThatThrownBy(
                        () ->
                            transactor.nested(
                                inner -> {
                                  insert(inner, 3);
                                  throw new IllegalArgumentException("innermost");
                                }))
                    .hasMessage("innermost");
                return insert(outer, 4);
              });
        });

    assertThat(entries()).containsExactly(1, 2, 4);
  }

  @Test
  void whatAnInnerSavepointKeptAnOuterOneUndoes() {
    transactor.run(
        connection ->
            assertThatThrownBy(
                    () ->
                        transactor.nested(
                            outer -> {
                              transactor.nested(inner -> insert(inner, 1));
                              throw new IllegalArgumentException("outer");
                            }))
                .hasMessage("outer"));

    assertThat(entries()).isEmpty();
    assertThat(attempted.outcomes()).containsExactly(TxOutcome.COMMITTED);
  }

  @Test
  void aJoinedCallThatFailedInsideASavepointDoesNotDoomTheWhole() {
    transactor.run(
        connection -> {
          insert(connection, 1);
          assertThatThrownBy(
                  () ->
                      transactor.nested(
                          c -> {
                            transactor.run(joined -> insert(joined, 1));
                            return true;
                          }))
              .isInstanceOf(ConstraintViolated.class);
        });

    assertThat(entries()).containsExactly(1);
  }

  @Test
  void anEarlierDoomIsNotForgottenByASavepoint() {
    assertThatThrownBy(
            () ->
                transactor.run(
                    connection -> {
                      assertThatThrownBy(
                              () ->
                                  transactor.run(
                                      joined -> {
                                        throw new IllegalArgumentException("half way");
                                      }))
                          .hasMessage("half way");
                      transactor.nested(c -> insert(c, 1));
                    }))
        .isInstanceOf(TransactionDoomed.class);

    assertThat(entries()).isEmpty();
  }

  @Test
  void aConflictInsideASavepointRunsTheWholeTransactionAgain() {
    transactor.run(
        connection -> {
          insert(connection, 1);
          if (attempted.attempts().isEmpty()) {
            assertThatThrownBy(
                    () ->
                        transactor.nested(
                            c -> {
                              JoiningTest.conflict(c);
                              return true;
                            }))
                .isInstanceOf(SerializationConflict.class);
          }
        });

    assertThat(entries()).containsExactly(1);
    assertThat(attempted.outcomes()).containsExactly(TxOutcome.RETRIED, TxOutcome.COMMITTED);
  }

  @Test
  void aConnectionLostInsideASavepointRunsTheWholeTransactionAgain() {
    transactor.run(
        connection -> {
          insert(connection, 1);
          if (attempted.attempts().isEmpty()) {
            int pid = Sql.pid(connection);
            assertThatThrownBy(
                    () ->
                        transactor.nested(
                            c -> {
                              terminate(pid);
                              return insert(c, 2);
                            }))
                .isInstanceOf(DatabaseUnavailable.class);
          }
        });

    assertThat(entries()).containsExactly(1);
    assertThat(attempted.outcomes()).containsExactly(TxOutcome.RETRIED, TxOutcome.COMMITTED);
  }

  @Test
  void aSavepointNeedsATransactionAroundIt() {
    assertThatThrownBy(() -> transactor.nested(connection -> true))
        .isInstanceOf(IllegalStateException.class);
  }

  private static void terminate(int pid) {
    assertThat(database.queryLong("SELECT pg_terminate_backend(?)::int", pid)).isEqualTo(1);
    Await.until(
        "the session is gone",
        () -> database.queryLong("SELECT count(*) FROM pg_stat_activity WHERE pid = ?", pid) == 0);
  }

  private static boolean insert(Connection connection, int id) throws SQLException {
    return Sql.execute(connection, "INSERT INTO entry VALUES (?)", id) == 1;
  }

  private static List<Integer> entries() {
    return database.query("SELECT id FROM entry ORDER BY id", row -> row.getInt(1));
  }
}
