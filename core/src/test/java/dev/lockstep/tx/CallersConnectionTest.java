package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.lockstep.fault.SerializationConflict;
import dev.lockstep.fault.TransactionDoomed;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** On a connection of the caller's, the caller commits. */
class CallersConnectionTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private final Attempted attempted = new Attempted();
  private final Transactor transactor =
      new Transactor(database.dataSource(), TxOptions.DEFAULT, attempted);
  private Connection connection;

  @BeforeEach
  void aCallersTransaction() throws SQLException {
    database.execute("DROP TABLE IF EXISTS entry; CREATE TABLE entry (id int PRIMARY KEY)");
    connection = database.connection();
    connection.setAutoCommit(false);
  }

  @AfterEach
  void close() throws SQLException {
    connection.close();
  }

  @Test
  void nothingIsCommittedUntilTheCallerDoes() throws SQLException {
    transactor.join(connection, CallersConnectionTest::insertOne);

    assertThat(entries()).isZero();
    connection.commit();
    assertThat(entries()).isEqualTo(1);
    assertThat(attempted.attempts()).as("not ours to report").isEmpty();
  }

  @Test
  void nothingIsRolledBackUntilTheCallerDoes() throws SQLException {
    insertOne(connection);

    assertThatThrownBy(
            () ->
                transactor.join(
                    connection,
                    c -> {
                      throw new IllegalArgumentException("changed my mind");
                    }))
        .hasMessage("changed my mind");

    connection.commit();
    assertThat(entries()).isEqualTo(1);
  }

  @Test
  void callsInsideJoinTheCallersTransaction() throws SQLException {
    transactor.join(
        connection,
        c -> {
          transactor.run(joined -> assertThat(joined).isSameAs(connection));
          return transactor.nested(CallersConnectionTest::insertOne);
        });

    connection.rollback();
    assertThat(entries()).isZero();
  }

  @Test
  void noSettingOfTheCallersIsChanged() throws SQLException {
    Sql.execute(connection, "SET LOCAL lock_timeout = '77ms'");

    String inside = transactor.join(connection, c -> Sql.text(c, "SHOW lock_timeout"));

    assertThat(inside).isEqualTo("77ms");
  }

  @Test
  void aSwallowedFailureOfAJoinedCallIsToldToTheCallerWhoMustRollBack() throws SQLException {
    assertThatThrownBy(
            () ->
                transactor.join(
                    connection,
                    c -> {
                      insertOne(c);
                      Throwable swallowed =
                          catchThrowable(
                              () ->
                                  transactor.run(
                                      joined -> {
                                        throw new IllegalArgumentException("half way");
                                      }));
                      return swallowed.toString();
                    }))
        .isInstanceOf(TransactionDoomed.class)
        .hasRootCauseMessage("half way");
  }

  @Test
  void conflictsAreTypedAndNotTriedAgain() {
    int[] runs = {0};

    assertThatThrownBy(
            () ->
                transactor.join(
                    connection,
                    c -> {
                      runs[0]++;
                      JoiningTest.conflict(c);
                      return true;
                    }))
        .isInstanceOf(SerializationConflict.class);

    assertThat(runs[0]).isEqualTo(1);
  }

  @Test
  void theIsolationOfTheCallersTransactionCounts() throws SQLException {
    TxOptions serializable = TxOptions.DEFAULT.withIsolation(Isolation.SERIALIZABLE);
    assertThatThrownBy(
            () -> transactor.join(connection, c -> transactor.call(serializable, joined -> true)))
        .isInstanceOf(IllegalStateException.class);
    connection.rollback();

    connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
    boolean joined =
        transactor.join(connection, c -> transactor.call(serializable, inner -> inner == c));

    assertThat(joined).isTrue();
  }

  @Test
  void anotherTransactionAroundItIsTakenUpAgainAfterwards() throws SQLException {
    transactor.run(
        outer -> {
          transactor.join(connection, CallersConnectionTest::insertOne);
          transactor.run(joined -> assertThat(joined).isSameAs(outer));
        });

    assertThat(entries()).as("the caller has not committed").isZero();
  }

  @Test
  void aConnectionInAutoCommitModeIsRefused() throws SQLException {
    connection.setAutoCommit(true);

    assertThatThrownBy(() -> transactor.join(connection, CallersConnectionTest::insertOne))
        .isInstanceOf(IllegalStateException.class);
    assertThat(entries()).isZero();
  }

  private static boolean insertOne(Connection connection) throws SQLException {
    return Sql.execute(connection, "INSERT INTO entry VALUES (1)") == 1;
  }

  private static long entries() {
    return database.queryLong("SELECT count(*) FROM entry");
  }
}
