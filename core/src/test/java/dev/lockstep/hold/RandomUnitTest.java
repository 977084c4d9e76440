package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * E2: a random unit must not cost more the more units are free. Both ways are measured by the rows
 * of the stock that PostgreSQL counts as read in the buyer's own transaction.
 */
class RandomUnitTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final HoldFixture fixture = new HoldFixture(database);

  private static final int FEW = 500;
  private static final int MANY = 4_000;

  /** Includes what the session read before and has not reported yet, so take the difference. */
  private static final String ROWS_READ =
      """
      SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
      FROM pg_stat_xact_user_tables WHERE relid = ?::regclass""";

  @Test
  void naiveOrderByRandomReadsEveryFreePositionToSellOne() throws SQLException {
    assertThat(readByNaive(FEW)).isGreaterThanOrEqualTo(FEW);
    assertThat(readByNaive(MANY)).isGreaterThanOrEqualTo(MANY);
  }

  @Test
  void oursReadsTheSameFewUnitsHoweverManyAreFree() throws SQLException {
    long few = readByOurs(FEW);

    assertThat(few).isBetween(1L, 4L);
    assertThat(readByOurs(MANY)).isEqualTo(few);
  }

  /** The order is random all the same: shuffled once, when the pool is created. */
  @Test
  void oursGivesUnitsOutInShuffledOrder() {
    Sale sale = fixture.sale();
    PoolId pool = sale.units(FEW);

    List<Integer> units = sale.hold("buyer", Line.of(pool, 50)).lines().get(0).units();

    assertThat(units).doesNotHaveDuplicates();
    assertThat(units.stream().filter(unit -> unit >= 50)).as("not the first fifty").isNotEmpty();
  }

  private static long readByNaive(int free) throws SQLException {
    NaiveSale naive = new NaiveSale(database, free);
    database.execute("ANALYZE naive.position");
    try (Connection connection = naive.begin(Connection.TRANSACTION_READ_COMMITTED)) {
      long before = Sql.query(connection, ROWS_READ, "naive.position");
      assertThat(Sql.execute(connection, NaiveSale.TAKE_ANY, "buyer")).isEqualTo(1);
      long read = Sql.query(connection, ROWS_READ, "naive.position") - before;
      connection.rollback();
      return read;
    }
  }

  private long readByOurs(int free) throws SQLException {
    Sale sale = fixture.sale();
    PoolId pool = sale.units(free);
    database.execute("ANALYZE lockstep.unit");
    return sale.transactor()
        .call(
            connection -> {
              long before = Sql.query(connection, ROWS_READ, "lockstep.unit");
              AcquireResult result =
                  sale.node().join(connection, sale.acquire("buyer", Line.of(pool, 1)));
              assertThat(result).isInstanceOf(HoldOutcome.Granted.class);
              return Sql.query(connection, ROWS_READ, "lockstep.unit") - before;
            });
  }
}
