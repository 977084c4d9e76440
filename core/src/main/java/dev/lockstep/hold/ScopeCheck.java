package dev.lockstep.hold;

import dev.lockstep.hold.StockFindings.UnitCounts;
import dev.lockstep.hold.StockViolation.StockInvariant;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.sql.StoredEnum;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Checks one scope's pools, with one statement per invariant, all in one round trip. */
final class ScopeCheck {
  // Each row must continue from the one before it; the first row, from the mark.
  private static final String CHAIN =
      """
      SELECT c.pool, count(*), min(c.seq) FILTER (WHERE NOT c.linked)
      FROM (
        SELECT a.pool, a.seq, %s AS linked
        FROM unnest(?, ?, ?, ?) AS m (pool, seq, held, sold)
        JOIN lockstep.stock_audit a ON a.scope = ? AND a.pool = m.pool AND a.seq > m.seq
        WINDOW w AS (PARTITION BY a.pool ORDER BY a.seq)) c
      GROUP BY c.pool"""
          .formatted(StockFindings.linked("m.seq", "m.held", "m.sold"));

  private static final String CHAIN_END =
      """
      SELECT a.pool, a.held_after, a.sold_after
      FROM unnest(?, ?) AS m (pool, seq)
      JOIN lockstep.stock_audit a ON a.scope = ? AND a.pool = m.pool AND a.seq = m.seq""";

  // A handful of rows per pool, by their own index: the opening total and its changes.
  private static final String TOTALS =
      """
      SELECT pool, sum(total_after - total_before) FROM lockstep.stock_audit
      WHERE scope = ? AND pool = ANY (?) AND total_after IS NOT NULL
      GROUP BY pool""";

  // unnest in the select list takes a third of the time of a join.
  private static final String HOLDS =
      StoredEnum.sql(
          """
      SELECT l.pool, coalesce(sum(l.quantity) FILTER (WHERE l.state = {HoldState.HELD}), 0),
        coalesce(sum(l.quantity) FILTER (WHERE l.state = {HoldState.SOLD}), 0)
      FROM (SELECT state, unnest(pools) AS pool, unnest(quantities) AS quantity
            FROM lockstep.hold WHERE scope = ? AND state IN ({HoldState.HELD}, {HoldState.SOLD})) l
      GROUP BY l.pool""",
          HoldState.class);

  private static final String UNITS =
      StoredEnum.sql(
          """
      SELECT u.pool, count(*) AS units, count(u.hold) AS owned,
        count(*) FILTER (WHERE u.stray) AS stray, min(u.unit) FILTER (WHERE u.stray) AS first_stray,
        count(*) FILTER (WHERE u.lost) AS lost, min(u.unit) FILTER (WHERE u.lost) AS first_lost
      FROM (
        SELECT u.pool, u.unit, u.hold, %s AS stray, %s AS lost
        FROM lockstep.unit u
        JOIN lockstep.pool p ON p.scope = ? AND p.pool = u.pool
        LEFT JOIN lockstep.hold h ON h.scope = ? AND h.hold = u.hold
        WHERE u.scope = ? AND u.pool = ANY (?)) u
      GROUP BY u.pool"""
              .formatted(StockFindings.STRAY, StockFindings.LOST),
          HoldState.class);

  private static final String LISTED_UNITS =
      StoredEnum.sql(
          """
      SELECT l.pool, count(*)
      FROM (SELECT unnest(unit_pools) AS pool
            FROM lockstep.hold WHERE scope = ? AND state IN ({HoldState.HELD}, {HoldState.SOLD})) l
      GROUP BY l.pool""",
          HoldState.class);

  private static final String QUOTAS =
      StoredEnum.sql(
          """
      SELECT coalesce(q.buyer, h.buyer), coalesce(q.used, 0), coalesce(h.used, 0)
      FROM (SELECT buyer, used FROM lockstep.quota WHERE scope = ? AND used > 0) q
      FULL JOIN (
        SELECT l.buyer, sum(l.quantity) AS used
        FROM (SELECT buyer, unnest(quantities) AS quantity
              FROM lockstep.hold WHERE scope = ? AND state IN ({HoldState.HELD}, {HoldState.SOLD})) l
        GROUP BY l.buyer) h ON h.buyer = q.buyer
      WHERE q.used IS DISTINCT FROM h.used
        AND EXISTS (SELECT 1 FROM lockstep.scope WHERE scope = ? AND buyer_limit IS NOT NULL)
      ORDER BY 1 LIMIT 1""",
          HoldState.class);

  private final long scope;
  private final Map<Long, PoolFacts> pools = new LinkedHashMap<>();
  private final StockFindings found;

  private record Chain(long pool, long rows, long firstBroken) {}

  private record Pair(long pool, long held, long sold) {}

  private record Units(long pool, long owned, UnitCounts counts) {
    static Units none(long pool) {
      return new Units(pool, 0, UnitCounts.NONE);
    }

    static Units read(ResultSet row) throws SQLException {
      return new Units(row.getLong("pool"), row.getLong("owned"), UnitCounts.read(row));
    }
  }

  ScopeCheck(long scope, List<PoolFacts> facts) {
    this.scope = scope;
    this.found = new StockFindings(scope);
    facts.forEach(pool -> pools.put(pool.pool(), pool));
  }

  List<StockViolation> violations(Connection connection) throws SQLException {
    List<PoolFacts> facts = List.copyOf(pools.values());
    SqlArray ids = SqlArray.bigints(facts.stream().map(PoolFacts::pool).toList());
    RoundTrip trip = new RoundTrip(connection);
    var chains =
        trip.query(
            CHAIN,
            row -> new Chain(row.getLong(1), row.getLong(2), row.getLong(3)),
            ids,
            SqlArray.bigints(facts.stream().map(pool -> pool.from().seq()).toList()),
            SqlArray.integers(facts.stream().map(pool -> pool.from().held()).toList()),
            SqlArray.integers(facts.stream().map(pool -> pool.from().sold()).toList()),
            scope);
    var ends =
        trip.query(
            CHAIN_END,
            row -> new Pair(row.getLong(1), row.getLong(2), row.getLong(3)),
            ids,
            SqlArray.bigints(facts.stream().map(PoolFacts::auditSeq).toList()),
            scope);
    Map<Long, Long> totals = new HashMap<>();
    trip.query(TOTALS, row -> totals.put(row.getLong(1), row.getLong(2)), scope, ids);
    var holds =
        trip.query(HOLDS, row -> new Pair(row.getLong(1), row.getLong(2), row.getLong(3)), scope);
    var units = trip.query(UNITS, Units::read, scope, scope, scope, ids);
    Map<Long, Long> listed = new HashMap<>();
    trip.query(LISTED_UNITS, row -> listed.put(row.getLong(1), row.getLong(2)), scope);
    var quotas = addWrongQuota(trip, scope);
    trip.send();
    checkChains(chains.list());
    checkEnds(ends.list());
    checkTotals(totals);
    checkHolds(holds.list());
    checkUnits(units.list(), listed);
    quotas
        .list()
        .forEach(
            detail -> pools.keySet().forEach(p -> found.add(StockInvariant.QUOTAS, p, detail)));
    return found.all();
  }

  /** Returns the first buyer whose quota differs from the live holds; empty if there is none. */
  static Optional<String> firstWrongQuota(Connection connection, long scope) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<String> found = addWrongQuota(trip, scope);
    trip.send();
    return found.list().stream().findFirst();
  }

  private static Rows<String> addWrongQuota(RoundTrip trip, long scope) {
    return trip.query(
        QUOTAS,
        row ->
            "the quota of buyer %s counts %d, live holds have %d"
                .formatted(row.getString(1), row.getLong(2), row.getLong(3)),
        scope,
        scope,
        scope);
  }

  private void checkChains(List<Chain> chains) {
    Map<Long, Chain> byPool = new HashMap<>();
    chains.forEach(chain -> byPool.put(chain.pool(), chain));
    for (PoolFacts pool : pools.values()) {
      Chain chain = byPool.getOrDefault(pool.pool(), new Chain(pool.pool(), 0, 0));
      found.chain(pool, chain.firstBroken(), chain.rows());
    }
  }

  private void checkEnds(List<Pair> ends) {
    Map<Long, Pair> byPool = new HashMap<>();
    ends.forEach(end -> byPool.put(end.pool(), end));
    for (PoolFacts pool : pools.values()) {
      Pair end = byPool.get(pool.pool());
      if (end == null && pool.auditSeq() > 0) {
        found.missingEnd(pool.pool(), pool.auditSeq());
      } else {
        Pair last = end == null ? new Pair(pool.pool(), 0, 0) : end;
        found.end(pool.pool(), pool.held(), pool.sold(), last.held(), last.sold());
      }
    }
  }

  private void checkTotals(Map<Long, Long> totals) {
    for (PoolFacts pool : pools.values()) {
      found.total(pool.pool(), pool.total(), totals.getOrDefault(pool.pool(), 0L));
    }
  }

  private void checkHolds(List<Pair> sums) {
    Map<Long, Pair> byPool = new HashMap<>();
    sums.forEach(sum -> byPool.put(sum.pool(), sum));
    for (PoolFacts pool : pools.values()) {
      Pair sum = byPool.getOrDefault(pool.pool(), new Pair(pool.pool(), 0, 0));
      found.holds(pool.pool(), pool.total(), pool.held(), pool.sold(), sum.held(), sum.sold());
    }
  }

  private void checkUnits(List<Units> counts, Map<Long, Long> listed) {
    Map<Long, Units> byPool = new HashMap<>();
    counts.forEach(count -> byPool.put(count.pool(), count));
    for (PoolFacts pool : pools.values()) {
      Units units = byPool.getOrDefault(pool.pool(), Units.none(pool.pool()));
      found.units(pool, units.counts(), units.owned(), listed.getOrDefault(pool.pool(), 0L));
    }
  }
}
