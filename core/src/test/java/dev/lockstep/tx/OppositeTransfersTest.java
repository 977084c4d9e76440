package dev.lockstep.tx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.fault.SqlFault;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.RaceResult;
import dev.lockstep.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A to B and B to A at once: each has what the other wants, unless both lock in one order. */
class OppositeTransfersTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  private static final String ADD = "UPDATE account SET balance = balance + ? WHERE id = ?";
  private static final String LOCK_BOTH =
      "SELECT id FROM account WHERE id IN (?, ?) ORDER BY id FOR UPDATE";
  // The server looks for a deadlock after this long; the default of a second only makes us wait.
  private static final String LOOK_SOON = "SET LOCAL deadlock_timeout = '20ms'";

  private final Attempted attempted = new Attempted();

  @BeforeEach
  void twoAccounts() {
    database.execute(
        "DROP TABLE IF EXISTS account; CREATE TABLE account (id int PRIMARY KEY, balance bigint);"
            + " INSERT INTO account VALUES (1, 1000), (2, 1000)");
  }

  @Test
  void eachLockingItsOwnAccountFirstDeadlocks() throws Exception {
    CyclicBarrier bothHoldTheirFirst = new CyclicBarrier(2);

    RaceResult<Boolean> result =
        Race.<Boolean>of(2)
            .run(
                i -> {
                  try (Connection connection = database.connection()) {
                    connection.setAutoCommit(false);
                    Sql.execute(connection, LOOK_SOON);
                    Sql.execute(connection, ADD, -10, 1 + i);
                    bothHoldTheirFirst.await();
                    Sql.execute(connection, ADD, 10, 2 - i);
                    connection.commit();
                    return true;
                  }
                });

    assertThat(result.values()).as("one survives").hasSize(1);
    assertThat(result.failures())
        .singleElement()
        .isInstanceOfSatisfying(
            SQLException.class, e -> assertThat(SqlFault.of(e)).isEqualTo(SqlFault.DEADLOCK));
  }

  @Test
  void theTransactorRunsTheVictimAgainAndBothTransfersHappen() throws Exception {
    CyclicBarrier bothHoldTheirFirst = new CyclicBarrier(2);
    Transactor transactor = new Transactor(database.dataSource(), TxOptions.DEFAULT, attempted);

    Race.<Boolean>of(2)
        .run(i -> transferUnordered(transactor, i, bothHoldTheirFirst))
        .valuesOrThrow();

    assertThat(attempted.faults(SqlFault.DEADLOCK)).isEqualTo(1);
    assertThat(balance(1)).isEqualTo(1000);
    assertThat(balance(2)).isEqualTo(1000);
  }

  @Test
  void transfersThatLockInOneOrderNeverDeadlock() throws Exception {
    TxOptions once = TxOptions.DEFAULT.withRetry(RetryPolicy.NEVER);
    Transactor transactor = new Transactor(database.dataSource(), once, attempted);

    Race.<Boolean>of(32)
        .run(
            i -> {
              for (int n = 0; n < 10; n++) {
                transferOrdered(transactor, 1 + i % 2, 2 - i % 2);
              }
              return true;
            })
        .valuesOrThrow();

    assertThat(attempted.faults(SqlFault.DEADLOCK)).isZero();
    assertThat(attempted.attempts()).hasSize(320);
    assertThat(balance(1)).isEqualTo(1000);
    assertThat(balance(2)).isEqualTo(1000);
  }

  private static boolean transferUnordered(
      Transactor transactor, int caller, CyclicBarrier barrier) {
    int[] attempts = {0};
    transactor.run(
        connection -> {
          Sql.execute(connection, LOOK_SOON);
          Sql.execute(connection, ADD, -10, 1 + caller);
          if (attempts[0]++ == 0) {
            await(barrier);
          }
          Sql.execute(connection, ADD, 10, 2 - caller);
        });
    return true;
  }

  private static void transferOrdered(Transactor transactor, int from, int to) {
    transactor.run(
        connection -> {
          Sql.execute(connection, LOCK_BOTH, from, to);
          Sql.execute(connection, ADD, -10, from);
          Sql.execute(connection, ADD, 10, to);
        });
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static long balance(int id) {
    return database.queryLong("SELECT balance FROM account WHERE id = ?", id);
  }
}
