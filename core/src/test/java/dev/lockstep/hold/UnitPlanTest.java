package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.util.List;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * With a bad plan nothing is wrong but the time it takes, which no other test sees: each unit of a
 * batch is looked up by its rank, and no other unit of the scope is touched.
 */
class UnitPlanTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  @Test
  void unitsOfManyPoolsAreLookedUpByTheirRanksAmongManyScopes() {
    database.execute(
        """
        INSERT INTO lockstep.unit (scope, pool, unit, rank)
        SELECT scope, pool, unit, pool - unit
        FROM generate_series(1, 100) scope, generate_series(1, 50) pool, generate_series(1, pool) unit""");
    database.execute("ANALYZE lockstep.unit");
    List<Long> pools = LongStream.rangeClosed(1, 50).boxed().toList();

    String plan =
        new Transactor(database.dataSource())
            .call(
                TxOptions.DEFAULT.withIndexLookups(),
                connection -> {
                  RoundTrip trip = new RoundTrip(connection);
                  Rows<String> lines =
                      trip.query(
                          "EXPLAIN " + UnitWrites.BY_RANK,
                          row -> row.getString(1),
                          SqlArray.bigints(pools),
                          SqlArray.integers(pools.stream().map(pool -> 0).toList()),
                          SqlArray.integers(pools.stream().map(Long::intValue).toList()),
                          SqlArray.uuids(pools.stream().map(pool -> UUID.randomUUID()).toList()),
                          7L);
                  trip.send();
                  return String.join("\n", lines.list());
                });

    assertThat(plan)
        .containsPattern(
            "using unit_by_rank .*\\n"
                + ".*Index Cond: .*scope \\+ 0.* AND .*pool \\+ 0.*x.pool.* AND .*rank = x.rank")
        .doesNotContain("unit_pkey");
  }
}
