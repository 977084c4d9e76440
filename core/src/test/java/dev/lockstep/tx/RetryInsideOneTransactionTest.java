package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.TxAttempt.TxOutcome;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * E18: a function that catches serialization_failure and tries again keeps the snapshot it failed
 * with, so it fails again each time. Only a new transaction has a new snapshot.
 */
class RetryInsideOneTransactionTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final String TAKE_A_SNAPSHOT = "SELECT value FROM counter";
  private static final String INCREMENT = "UPDATE counter SET value = value + 1";
  private static final int TRIES = 25;

  private final Attempted attempted = new Attempted();

  @BeforeEach
  void aCounterAndAFunctionThatTriesAgain() {
    database.execute(
        """
        DROP TABLE IF EXISTS counter;
        CREATE TABLE counter (value bigint);
        INSERT INTO counter VALUES (0);
        CREATE OR REPLACE FUNCTION increment_with_retries(tries int) RETURNS int
        LANGUAGE plpgsql AS $$
        DECLARE
          failures int := 0;
        BEGIN
          WHILE failures < tries LOOP
            BEGIN
              UPDATE counter SET value = value + 1;
              RETURN failures;
            EXCEPTION WHEN serialization_failure THEN
              failures := failures + 1;
            END;
          END LOOP;
          RETURN failures;
        END $$;
        """);
  }

  @ParameterizedTest
  @EnumSource(names = {"REPEATABLE_READ", "SERIALIZABLE"})
  void everyRetryInsideTheTransactionFailsAgain(Isolation isolation) throws SQLException {
    long failures;
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      Sql.execute(connection, "SET TRANSACTION ISOLATION LEVEL " + isolation.sql());
      Sql.query(connection, TAKE_A_SNAPSHOT);
      database.execute(INCREMENT);
      failures = Sql.query(connection, "SELECT increment_with_retries(?)", TRIES);
      connection.commit();
    }

    assertThat(failures).isEqualTo(TRIES);
    assertThat(value()).as("only the other's increment").isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource(names = {"REPEATABLE_READ", "SERIALIZABLE"})
  void aNewTransactionSucceedsAtTheSecondAttempt(Isolation isolation) {
    Transactor transactor =
        new Transactor(
            database.dataSource(), TxOptions.DEFAULT.withIsolation(isolation), attempted);

    transactor.run(
        connection -> {
          Sql.query(connection, TAKE_A_SNAPSHOT);
          if (attempted.attempts().isEmpty()) {
            database.execute(INCREMENT);
          }
          Sql.execute(connection, INCREMENT);
        });

    assertThat(attempted.outcomes()).containsExactly(TxOutcome.RETRIED, TxOutcome.COMMITTED);
    assertThat(value()).isEqualTo(2);
  }

  private static long value() {
    return database.queryLong(TAKE_A_SNAPSHOT);
  }
}
