package dev.lockstep.hold;

import dev.lockstep.combine.Slices;
import dev.lockstep.hold.StockFindings.UnitCounts;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.StoredEnum;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Checks the units of a scope, a few thousand at a time. Each unit is compared with its hold and
 * pool in one snapshot. The reverse, that a live hold owns every unit it lists, is checked by
 * {@link HoldSlices}.
 */
final class UnitSlices {
  private static final String NEXT =
      StoredEnum.sql(
          """
      WITH page AS MATERIALIZED (
        SELECT u.pool, u.unit, u.rank, u.hold, u.returned FROM lockstep.unit u
        WHERE u.scope = ? AND (u.pool, u.unit) > (?, ?) ORDER BY u.pool, u.unit LIMIT ?)
      SELECT g.pool, count(*) AS units, max(g.unit) AS last,
        count(*) FILTER (WHERE g.stray) AS stray, min(g.unit) FILTER (WHERE g.stray) AS first_stray,
        count(*) FILTER (WHERE g.lost) AS lost, min(g.unit) FILTER (WHERE g.lost) AS first_lost
      FROM (
        SELECT u.pool, u.unit,
          %s AS stray,
          %s AS lost
        FROM page u
        LEFT JOIN lockstep.pool p ON p.scope = ? AND p.pool = u.pool
        LEFT JOIN lockstep.hold h ON h.scope = ? AND h.hold = u.hold) g
      GROUP BY g.pool ORDER BY g.pool"""
              .formatted(StockFindings.STRAY, StockFindings.LOST),
          HoldState.class);

  private final Slices slices;
  private final long scope;
  private final Map<Long, UnitCounts> counts = new HashMap<>();
  private long afterPool = Long.MIN_VALUE;
  private int afterUnit = Integer.MIN_VALUE;

  private record Slice(long pool, int last, UnitCounts counts) {}

  UnitSlices(Slices slices, long scope) {
    this.slices = slices;
    this.scope = scope;
  }

  List<StockViolation> violations(List<PoolFacts> pools) {
    boolean more = true;
    while (more) {
      more = slices.next(this::next);
    }
    StockFindings found = new StockFindings(scope);
    pools.forEach(pool -> found.units(pool, counts.getOrDefault(pool.pool(), UnitCounts.NONE)));
    return found.all();
  }

  private boolean next(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Slice> rows =
        trip.query(
            NEXT,
            row -> new Slice(row.getLong("pool"), row.getInt("last"), UnitCounts.read(row)),
            scope,
            afterPool,
            afterUnit,
            slices.page(),
            scope,
            scope);
    trip.send();
    long read = 0;
    for (Slice slice : rows.list()) {
      counts.merge(slice.pool(), slice.counts(), UnitCounts::and);
      read += slice.counts().rows();
      afterPool = slice.pool();
      afterUnit = slice.last();
    }
    return read == slices.page();
  }
}
