package dev.lockstep.hold;

import dev.lockstep.hold.StockViolation.StockInvariant;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Judges what was read of a scope's pools, and says what differs. Small and large scopes are read
 * in different ways, and judged alike.
 */
final class StockFindings {
  // A unit with an owner must be listed by that live hold. A free unit that was never given back
  // must still be ahead in the shuffle, or it is never given out. Of unit u, its hold h and pool p.
  static final String STRAY =
      """
      u.hold IS NOT NULL AND NOT coalesce(
            h.state IN ({HoldState.HELD}, {HoldState.SOLD}) AND EXISTS (
            SELECT 1 FROM unnest(h.unit_pools, h.units) AS x (pool, unit)
            WHERE x.pool = u.pool AND x.unit = u.unit), false)""";

  static final String LOST =
      "u.hold IS NULL AND NOT u.returned AND coalesce(u.rank < p.next_rank, false)";

  private final long scope;
  private final List<StockViolation> violations = new ArrayList<>();

  StockFindings(long scope) {
    this.scope = scope;
  }

  /**
   * A condition on audit row {@code a}: it continues from the row before it, in window {@code w}.
   * The first row continues from these.
   */
  static String linked(String seq, String held, String sold) {
    return """
        a.seq = lag(a.seq, 1, %s) OVER w + 1
              AND a.held_before = lag(a.held_after, 1, %s) OVER w
              AND a.sold_before = lag(a.sold_after, 1, %s) OVER w"""
        .formatted(seq, held, sold);
  }

  /**
   * A pool's audit rows from its mark on.
   *
   * @param firstBroken the first one that does not continue from the one before it; 0: none
   */
  void chain(PoolFacts pool, long firstBroken, long rows) {
    long counted = pool.auditSeq() - pool.from().seq();
    if (firstBroken != 0) {
      add(
          StockInvariant.AUDIT_CHAIN,
          pool.pool(),
          "audit row %d does not begin where the one before it ended".formatted(firstBroken));
    } else if (rows != counted) {
      add(
          StockInvariant.AUDIT_CHAIN,
          pool.pool(),
          "%d audit rows after row %d, where the pool counts %d"
              .formatted(rows, pool.from().seq(), counted));
    }
  }

  void missingEnd(long pool, long seq) {
    add(StockInvariant.AUDIT_END, pool, "audit row %d, the newest, is missing".formatted(seq));
  }

  /** What a pool counts as held and sold, and what the newest audit row says. */
  void end(long pool, long held, long sold, long heldAfter, long soldAfter) {
    compare(
        StockInvariant.AUDIT_END,
        pool,
        held,
        sold,
        "the newest audit row says",
        heldAfter,
        soldAfter);
  }

  /** What a pool counts, and what live holds have of it. */
  void holds(long pool, int total, int held, int sold, long heldByHolds, long soldByHolds) {
    compare(StockInvariant.HOLDS, pool, held, sold, "live holds have", heldByHolds, soldByHolds);
    long both = heldByHolds + soldByHolds;
    if (both > total) {
      add(StockInvariant.OVERSOLD, pool, "live holds have %d of %d".formatted(both, total));
    }
  }

  private void compare(
      StockInvariant check,
      long pool,
      long held,
      long sold,
      String other,
      long otherHeld,
      long otherSold) {
    if (held != otherHeld || sold != otherSold) {
      add(
          check,
          pool,
          "the pool counts %d held and %d sold, %s %d and %d"
              .formatted(held, sold, other, otherHeld, otherSold));
    }
  }

  void total(long pool, long total, long accounted) {
    if (total != accounted) {
      add(
          StockInvariant.TOTAL,
          pool,
          "the pool has a total of %d, its audit accounts for %d".formatted(total, accounted));
    }
  }

  /**
   * A pool's units.
   *
   * @param stray with an owner that does not list them
   * @param lost free, but never given out
   */
  record UnitCounts(long rows, long stray, int firstStray, long lost, int firstLost) {
    static final UnitCounts NONE = new UnitCounts(0, 0, 0, 0, 0);

    static UnitCounts read(ResultSet row) throws SQLException {
      return new UnitCounts(
          row.getLong("units"),
          row.getLong("stray"),
          row.getInt("first_stray"),
          row.getLong("lost"),
          row.getInt("first_lost"));
    }

    UnitCounts and(UnitCounts more) {
      return new UnitCounts(
          rows + more.rows,
          stray + more.stray,
          stray > 0 ? firstStray : more.firstStray,
          lost + more.lost,
          lost > 0 ? firstLost : more.firstLost);
    }
  }

  /** Adds only the first fault of a pool's units: one fault often causes others. */
  void units(PoolFacts pool, UnitCounts units) {
    if (!misplaced(pool, units)) {
      lost(pool, units);
    }
  }

  /**
   * As {@link #units(PoolFacts, UnitCounts)}, with the owners of all units in the same snapshot.
   */
  void units(PoolFacts pool, UnitCounts units, long owned, long listed) {
    long counted = pool.hasUnits() ? pool.held() + pool.sold() : 0;
    if (misplaced(pool, units)) {
      return;
    }
    if (owned != counted) {
      addUnits(pool, "%d units have an owner, the pool counts %d".formatted(owned, counted));
    } else if (listed != counted) {
      addUnits(pool, "live holds list %d units, the pool counts %d".formatted(listed, counted));
    } else {
      lost(pool, units);
    }
  }

  private boolean misplaced(PoolFacts pool, UnitCounts units) {
    int rows = pool.hasUnits() ? pool.total() : 0;
    if (units.rows() != rows) {
      addUnits(pool, "%d units instead of %d".formatted(units.rows(), rows));
      return true;
    }
    if (units.stray() != 0) {
      addUnits(
          pool,
          "%d units have an owner that is not a live hold listing them, the first is unit %d"
              .formatted(units.stray(), units.firstStray()));
      return true;
    }
    return false;
  }

  private void lost(PoolFacts pool, UnitCounts units) {
    if (units.lost() != 0) {
      addUnits(
          pool,
          "%d free units can never be given out, the first is unit %d"
              .formatted(units.lost(), units.firstLost()));
    }
  }

  private void addUnits(PoolFacts pool, String detail) {
    add(StockInvariant.UNITS, pool.pool(), detail);
  }

  void add(StockInvariant check, long pool, String detail) {
    violations.add(new StockViolation(check, scope, pool, detail));
  }

  List<StockViolation> all() {
    return violations;
  }
}
