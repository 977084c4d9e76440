package dev.lockstep.hold;

import dev.lockstep.hold.StockViolation.StockInvariant;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.StoredEnum;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
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
          u.hold IS NOT NULL AND NOT coalesce(
            h.state IN ({HoldState.HELD}, {HoldState.SOLD}) AND EXISTS (
            SELECT 1 FROM unnest(h.unit_pools, h.units) AS x (pool, unit)
            WHERE x.pool = u.pool AND x.unit = u.unit), false) AS stray,
          u.hold IS NULL AND NOT u.returned AND coalesce(u.rank < p.next_rank, false) AS lost
        FROM page u
        LEFT JOIN lockstep.pool p ON p.scope = ? AND p.pool = u.pool
        LEFT JOIN lockstep.hold h ON h.scope = ? AND h.hold = u.hold) g
      GROUP BY g.pool ORDER BY g.pool""",
          HoldState.class);

  private final Slices slices;
  private final long scope;
  private final Map<Long, Counts> counts = new HashMap<>();
  private long afterPool = Long.MIN_VALUE;
  private int afterUnit = Integer.MIN_VALUE;

  private record Counts(
      long pool, long rows, int last, long stray, int firstStray, long lost, int firstLost) {
    Counts and(Counts more) {
      return new Counts(
          pool,
          rows + more.rows,
          more.last,
          stray + more.stray,
          stray > 0 ? firstStray : more.firstStray,
          lost + more.lost,
          lost > 0 ? firstLost : more.firstLost);
    }
  }

  UnitSlices(Slices slices, long scope) {
    this.slices = slices;
    this.scope = scope;
  }

  List<StockViolation> violations(List<PoolFacts> pools) {
    boolean more = true;
    while (more) {
      more = slices.next(this::next);
    }
    List<StockViolation> found = new ArrayList<>();
    for (PoolFacts pool : pools) {
      String fault =
          faultOf(
              pool, counts.getOrDefault(pool.pool(), new Counts(pool.pool(), 0, 0, 0, 0, 0, 0)));
      if (!fault.isEmpty()) {
        found.add(new StockViolation(StockInvariant.UNITS, scope, pool.pool(), fault));
      }
    }
    return found;
  }

  private static String faultOf(PoolFacts pool, Counts units) {
    int rows = pool.hasUnits() ? pool.total() : 0;
    if (units.rows() != rows) {
      return "%d units instead of %d".formatted(units.rows(), rows);
    }
    if (units.stray() != 0) {
      return "%d units have an owner that is not a live hold listing them, the first is unit %d"
          .formatted(units.stray(), units.firstStray());
    }
    return units.lost() == 0
        ? ""
        : "%d free units can never be given out, the first is unit %d"
            .formatted(units.lost(), units.firstLost());
  }

  private boolean next(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Counts> rows =
        trip.query(
            NEXT,
            row ->
                new Counts(
                    row.getLong("pool"),
                    row.getLong("units"),
                    row.getInt("last"),
                    row.getLong("stray"),
                    row.getInt("first_stray"),
                    row.getLong("lost"),
                    row.getInt("first_lost")),
            scope,
            afterPool,
            afterUnit,
            slices.page(),
            scope,
            scope);
    trip.send();
    long read = 0;
    for (Counts slice : rows.list()) {
      counts.merge(slice.pool(), slice, Counts::and);
      read += slice.rows();
      afterPool = slice.pool();
      afterUnit = slice.last();
    }
    return read == slices.page();
  }
}
