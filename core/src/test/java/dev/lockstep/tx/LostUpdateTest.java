package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.fault.SqlFault;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.TxAttempt.TxOutcome;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Read, then write what was computed from it: under READ COMMITTED one of two updates is lost. */
class LostUpdateTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final String READ = "SELECT balance FROM account WHERE id = 1";
  private static final String WRITE = "UPDATE account SET balance = ? WHERE id = 1";
  private static final int CALLERS = 16;

  private final Attempted attempted = new Attempted();

  @BeforeEach
  void anAccountWithOneHundred() {
    database.execute(
        "DROP TABLE IF EXISTS account; CREATE TABLE account (id int PRIMARY KEY, balance bigint);"
            + " INSERT INTO account VALUES (1, 100)");
  }

  @Test
  void readThenWriteLosesOneOfTwoDeposits() throws SQLException {
    try (Connection one = begin();
        Connection other = begin()) {
      long seenByOne = Sql.query(one, READ);
      long seenByOther = Sql.query(other, READ);
      Sql.execute(one, WRITE, seenByOne + 10);
      one.commit();
      Sql.execute(other, WRITE, seenByOther + 20);
      other.commit();
    }

    assertThat(balance()).as("the ten are gone").isEqualTo(120);
  }

  @Test
  void aRowLockMakesTheSecondDepositWaitAndSeeTheFirst() throws Exception {
    Transactor transactor = transactor();
    Background<Long> other =
        transactor.call(
            connection -> {
              long seen = Sql.query(connection, READ + " FOR UPDATE");
              Background<Long> second = Background.start(() -> depositUnderRowLock(transactor, 20));
              Await.blocked(database, 1);
              Sql.execute(connection, WRITE, seen + 10);
              return second;
            });

    assertThat(other.result()).isEqualTo(110);
    assertThat(balance()).isEqualTo(130);
  }

  @Test
  void anUpdateThatComputesInTheDatabaseLosesNothing() throws Exception {
    Transactor transactor = transactor();
    Background<Integer> other =
        transactor.call(
            connection -> {
              Sql.execute(connection, "UPDATE account SET balance = balance + 10 WHERE id = 1");
              Background<Integer> second =
                  Background.start(
                      () ->
                          transactor.call(
                              c ->
                                  Sql.execute(
                                      c,
                                      "UPDATE account SET balance = balance + 20 WHERE id = 1")));
              Await.blocked(database, 1);
              return second;
            });

    assertThat(other.result()).isEqualTo(1);
    assertThat(balance()).isEqualTo(130);
  }

  @Test
  void repeatableReadRefusesTheStaleWriteAndTheTransactorRunsItAgain() {
    TxOptions options = TxOptions.DEFAULT.withIsolation(Isolation.REPEATABLE_READ);

    transactor()
        .run(
            options,
            connection -> {
              long seen = Sql.query(connection, READ);
              if (attempted.attempts().isEmpty()) {
                database.execute("UPDATE account SET balance = balance + 10 WHERE id = 1");
              }
              Sql.execute(connection, WRITE, seen + 20);
            });

    assertThat(balance()).isEqualTo(130);
    assertThat(attempted.outcomes()).containsExactly(TxOutcome.RETRIED, TxOutcome.COMMITTED);
    assertThat(attempted.faults(SqlFault.SERIALIZATION)).isEqualTo(1);
  }

  @Test
  void noDepositIsLostAmongManyCallersWhicheverCureIsUsed() throws InterruptedException {
    Transactor transactor = transactor();
    TxOptions repeatable = TxOptions.DEFAULT.withIsolation(Isolation.REPEATABLE_READ);

    Race.<Long>of(CALLERS).run(i -> depositUnderRowLock(transactor, 1)).valuesOrThrow();
    Race.<Long>of(CALLERS)
        .run(i -> transactor.call(repeatable, connection -> readAndWrite(connection, READ, 1)))
        .valuesOrThrow();

    assertThat(balance()).isEqualTo(100 + 2 * CALLERS);
  }

  private static long depositUnderRowLock(Transactor transactor, long amount) {
    return transactor.call(connection -> readAndWrite(connection, READ + " FOR UPDATE", amount));
  }

  private static long readAndWrite(Connection connection, String read, long amount)
      throws SQLException {
    long seen = Sql.query(connection, read);
    Sql.execute(connection, WRITE, seen + amount);
    return seen;
  }

  private Transactor transactor() {
    return new Transactor(database.dataSource(), TxOptions.DEFAULT, attempted);
  }

  private static long balance() {
    return database.queryLong(READ);
  }

  private static Connection begin() throws SQLException {
    Connection connection = database.connection();
    connection.setAutoCommit(false);
    return connection;
  }
}
