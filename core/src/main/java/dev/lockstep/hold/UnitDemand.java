package dev.lockstep.hold;

import dev.lockstep.hold.ScopeState.UnitRow;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.SqlArray;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Predicate;

/** The lines that a batch asks for, and the units that could fill them. */
final class UnitDemand {
  // The next units of the shuffle, then those given back; the pool's lock reserves them for us. A
  // counted pool has none. The first part uses only the expressions of unit_by_rank: with the plain
  // columns, a planner without statistics of a new scope expects one row, and reads and sorts the
  // whole pool by its primary key.
  private static final String OFFER_UNITS =
      """
      SELECT w.pool, u.unit, u.rank, u.returned, NULL::uuid
      FROM unnest(?, ?) AS w (pool, quantity)
      CROSS JOIN LATERAL (
        SELECT scope, next_rank FROM lockstep.pool
        WHERE scope = ? AND pool = w.pool AND has_units OFFSET 0) p -- one lookup per pool
      CROSS JOIN LATERAL (
        (SELECT unit, rank, returned FROM lockstep.unit
         WHERE scope + 0 = p.scope AND pool + 0 = w.pool AND rank >= p.next_rank
           AND hold IS NULL AND NOT returned
         ORDER BY rank LIMIT w.quantity)
        UNION ALL
        (SELECT unit, rank, returned FROM lockstep.unit
         WHERE scope = ? AND pool = w.pool AND returned
         ORDER BY rank LIMIT w.quantity)
        LIMIT w.quantity) u""";

  // Looks for each named unit in every pool that has named units. That finds more than was asked
  // for, which is harmless; a join would leave the planner a choice.
  private static final String READ_NAMED_UNITS =
      """
      SELECT pool, unit, rank, returned, hold FROM lockstep.unit
      WHERE scope = ? AND pool = ANY (?) AND unit = ANY (?)""";

  private final Map<Long, Integer> quantities = new TreeMap<>();
  private final Set<Long> namedPools = new TreeSet<>();
  private final Set<Integer> namedUnits = new TreeSet<>();
  private final Map<PoolId, List<UnitRow>> offered = new HashMap<>();
  private final Map<PoolId, Map<Integer, UnitRow>> named = new HashMap<>();

  void add(List<Line> lines) {
    for (Line line : lines) {
      quantities.merge(line.pool().value(), line.quantity(), Integer::sum);
      for (int unit : line.units()) {
        namedPools.add(line.pool().value());
        namedUnits.add(unit);
      }
    }
  }

  SqlArray pools() {
    return SqlArray.bigints(quantities.keySet());
  }

  /** Adds the unit queries, if any, to a trip that has locked the pools. */
  void readUnits(RoundTrip trip, ScopeId scope, Predicate<PoolId> isCounted) {
    long s = scope.value();
    if (!quantities.keySet().stream().map(PoolId::new).allMatch(isCounted)) {
      trip.query(OFFER_UNITS, this::offer, pools(), SqlArray.integers(quantities.values()), s, s);
    }
    if (!namedUnits.isEmpty()) {
      trip.query(
          READ_NAMED_UNITS,
          this::name,
          s,
          SqlArray.bigints(namedPools),
          SqlArray.integers(namedUnits));
    }
  }

  /** Free units by pool, in the order they are given out; filled once the trip was sent. */
  Map<PoolId, List<UnitRow>> offered() {
    return offered;
  }

  /** Units asked for by name; filled once the trip was sent. */
  Map<PoolId, Map<Integer, UnitRow>> named() {
    return named;
  }

  private boolean offer(ResultSet row) throws SQLException {
    return offered
        .computeIfAbsent(new PoolId(row.getLong(1)), pool -> new ArrayList<>())
        .add(unit(row));
  }

  private boolean name(ResultSet row) throws SQLException {
    UnitRow unit = unit(row);
    named
        .computeIfAbsent(new PoolId(row.getLong(1)), pool -> new HashMap<>())
        .put(unit.unit(), unit);
    return true;
  }

  private static UnitRow unit(ResultSet row) throws SQLException {
    return new UnitRow(
        row.getInt(2), row.getInt(3), row.getBoolean(4), row.getObject(5, UUID.class));
  }
}
