package dev.lockstep.hold;

import dev.lockstep.combine.Slices;
import dev.lockstep.hold.StockViolation.StockInvariant;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.sql.StoredEnum;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Adds up what a scope's live holds have, a few thousand holds at a time, while they change.
 *
 * <p>Each slice is a snapshot. It first corrects the sums for holds already counted that changed
 * since the previous slice: their audit rows, numbered in commit order, show how. Then it adds the
 * next holds as this snapshot shows them. So after each slice the sums are exact for all holds read
 * so far, in that slice's snapshot. After the last slice they must equal the pools' counters in the
 * same snapshot. No sale ever looks like an error.
 *
 * <p>Quotas are added up in the same way, as a buyer's units times a hash of the buyer. If any
 * buyer's units differ, so do the two sums over holds and over quotas.
 */
final class HoldSlices {
  private static final OffsetDateTime FIRST =
      OffsetDateTime.of(1, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC);

  private static final OffsetDateTime LAST =
      OffsetDateTime.of(9999, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC);

  private static final String POOLS =
      "SELECT pool, total, held, sold, audit_seq FROM lockstep.pool WHERE scope = ? ORDER BY pool";

  // Changes of holds already counted, and of buyers whose quota is already counted.
  private static final String CHANGED_SINCE =
      """
      SELECT a.pool,
        coalesce(sum(a.held_after - a.held_before) FILTER (WHERE (h.created_at, h.hold) <= (?, ?)), 0),
        coalesce(sum(a.sold_after - a.sold_before) FILTER (WHERE (h.created_at, h.hold) <= (?, ?)), 0),
        coalesce(sum((a.held_after - a.held_before + a.sold_after - a.sold_before)
          * hashtextextended(h.buyer, 0)::numeric) FILTER (WHERE (h.created_at, h.hold) <= (?, ?)), 0),
        coalesce(sum((a.held_after - a.held_before + a.sold_after - a.sold_before)
          * hashtextextended(h.buyer, 0)::numeric) FILTER (WHERE h.buyer <= ?), 0)
      FROM unnest(?, ?, ?) AS m (pool, seen, seq)
      JOIN lockstep.stock_audit a
        ON a.scope = ? AND a.pool = m.pool AND a.seq > m.seen AND a.seq <= m.seq
      JOIN lockstep.hold h ON h.scope = ? AND h.hold = a.hold
      GROUP BY a.pool""";

  // Code 0: how many holds, and the last one. 1: what live holds have, per pool. 2: units that
  // belong to another hold or none.
  private static final String NEXT_HOLDS =
      StoredEnum.sql(
          """
      WITH page AS MATERIALIZED (
        SELECT h.created_at, h.hold, h.buyer, h.state, h.pools, h.quantities, h.unit_pools, h.units
        FROM lockstep.hold h WHERE h.scope + 0 = ? AND (h.created_at, h.hold) > (?, ?)
        ORDER BY h.created_at, h.hold LIMIT ?)
      SELECT 0 AS code, count(*) AS pool, 0 AS held, 0 AS sold, 0 AS buyers,
        max(p.created_at) AS created_at,
        (array_agg(p.hold ORDER BY p.created_at DESC, p.hold DESC))[1] AS hold FROM page p
      UNION ALL
      SELECT 1, l.pool, sum(l.quantity) FILTER (WHERE l.state = {HoldState.HELD}),
        sum(l.quantity) FILTER (WHERE l.state = {HoldState.SOLD}),
        sum(l.quantity * hashtextextended(l.buyer, 0)::numeric), NULL, NULL
      FROM (SELECT p.state, p.buyer, unnest(p.pools) AS pool, unnest(p.quantities) AS quantity
            FROM page p WHERE p.state IN ({HoldState.HELD}, {HoldState.SOLD})) l
      GROUP BY l.pool
      UNION ALL
      SELECT 2, x.pool, count(*), 0, 0, NULL, NULL
      FROM (SELECT p.hold, unnest(p.unit_pools) AS pool, unnest(p.units) AS unit
            FROM page p WHERE p.state IN ({HoldState.HELD}, {HoldState.SOLD})) x
      LEFT JOIN lockstep.unit u ON u.scope = ? AND u.pool = x.pool AND u.unit = x.unit
      WHERE u.hold IS DISTINCT FROM x.hold
      GROUP BY x.pool""",
          HoldState.class);

  private static final String NEXT_QUOTAS =
      """
      SELECT count(*), max(q.buyer), coalesce(sum(q.used * hashtextextended(q.buyer, 0)::numeric), 0)
      FROM (SELECT buyer, used FROM lockstep.quota
            WHERE scope = ? AND buyer > ? ORDER BY buyer LIMIT ?) q""";

  private final Slices slices;
  private final long scope;

  // As of the last slice's snapshot.
  private Map<Long, PoolNow> pools = Map.of();
  private final Map<Long, Long> held = new HashMap<>();
  private final Map<Long, Long> sold = new HashMap<>();
  private final Map<Long, Long> wrongUnits = new HashMap<>();
  private BigDecimal ofHolds = BigDecimal.ZERO;
  private BigDecimal ofQuotas = BigDecimal.ZERO;
  private OffsetDateTime afterAt = FIRST;
  private UUID afterHold = new UUID(0, 0);
  private String afterBuyer = "";
  private boolean disturbed;

  HoldSlices(Slices slices, long scope) {
    this.slices = slices;
    this.scope = scope;
  }

  private record PoolNow(long pool, int total, int held, int sold, long seq) {}

  private record Changed(long pool, long held, long sold, BigDecimal buyers, BigDecimal quotas) {}

  private record Page(
      int code,
      long pool,
      long held,
      long sold,
      BigDecimal buyers,
      @Nullable OffsetDateTime at,
      @Nullable UUID hold) {
    static Page read(ResultSet row) throws SQLException {
      BigDecimal buyers = row.getBigDecimal("buyers");
      return new Page(
          row.getInt("code"),
          row.getLong("pool"),
          row.getLong("held"),
          row.getLong("sold"),
          buyers == null ? BigDecimal.ZERO : buyers,
          row.getObject("created_at", OffsetDateTime.class),
          row.getObject("hold", UUID.class));
    }
  }

  private record Quotas(long rows, @Nullable String last, BigDecimal used) {}

  /**
   * Reads all holds. False if a pool's audit sequence went back: the server came back without
   * changes it had committed.
   */
  boolean addUpHolds() {
    boolean more = true;
    while (more && !disturbed) {
      more = slices.next(this::nextHolds);
    }
    return !disturbed;
  }

  /** Reads all quotas, after all holds. False if some buyer's quota does not agree. */
  boolean quotasAgree() {
    // From here on every hold counts, including later ones.
    afterAt = LAST;
    boolean more = true;
    while (more && !disturbed) {
      more = slices.next(this::nextQuotas);
    }
    return disturbed || ofHolds.compareTo(ofQuotas) == 0;
  }

  List<StockViolation> violations() {
    StockFindings found = new StockFindings(scope);
    for (PoolNow pool : pools.values()) {
      found.holds(
          pool.pool(),
          pool.total(),
          pool.held(),
          pool.sold(),
          held.getOrDefault(pool.pool(), 0L),
          sold.getOrDefault(pool.pool(), 0L));
      long wrong = wrongUnits.getOrDefault(pool.pool(), 0L);
      if (wrong != 0) {
        found.add(
            StockInvariant.UNITS,
            pool.pool(),
            "live holds list %d units that are not theirs".formatted(wrong));
      }
    }
    return found.all();
  }

  private boolean nextHolds(Connection connection) throws SQLException {
    catchUp(connection);
    RoundTrip trip = new RoundTrip(connection);
    Rows<Page> rows =
        trip.query(NEXT_HOLDS, Page::read, scope, afterAt, afterHold, slices.page(), scope);
    trip.send();
    long read = 0;
    for (Page page : rows.list()) {
      switch (page.code()) {
        case 0 -> {
          read = page.pool();
          OffsetDateTime at = page.at();
          UUID hold = page.hold();
          if (at != null && hold != null) {
            afterAt = at;
            afterHold = hold;
          }
        }
        case 1 -> {
          held.merge(page.pool(), page.held(), Long::sum);
          sold.merge(page.pool(), page.sold(), Long::sum);
          ofHolds = ofHolds.add(page.buyers());
        }
        default -> wrongUnits.merge(page.pool(), page.held(), Long::sum);
      }
    }
    return read == slices.page();
  }

  private boolean nextQuotas(Connection connection) throws SQLException {
    catchUp(connection);
    RoundTrip trip = new RoundTrip(connection);
    Rows<Quotas> rows =
        trip.query(
            NEXT_QUOTAS,
            row -> new Quotas(row.getLong(1), row.getString(2), row.getBigDecimal(3)),
            scope,
            afterBuyer,
            slices.page());
    trip.send();
    Quotas page = rows.list().get(0);
    ofQuotas = ofQuotas.add(page.used());
    String last = page.last();
    if (last != null) {
      afterBuyer = last;
    }
    return page.rows() == slices.page();
  }

  /** Corrects the sums for changes up to this snapshot in what is already counted. */
  private void catchUp(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<PoolNow> read =
        trip.query(
            POOLS,
            row ->
                new PoolNow(
                    row.getLong(1), row.getInt(2), row.getInt(3), row.getInt(4), row.getLong(5)),
            scope);
    trip.send();
    Map<Long, PoolNow> before = pools;
    boolean first = before.isEmpty();
    Map<Long, PoolNow> now = new HashMap<>();
    List<Long> ids = new ArrayList<>();
    List<Long> seen = new ArrayList<>();
    List<Long> seqs = new ArrayList<>();
    for (PoolNow pool : read.list()) {
      now.put(pool.pool(), pool);
      PoolNow known = before.get(pool.pool());
      long from = known == null ? 0 : known.seq();
      disturbed |= pool.seq() < from;
      if (!first && pool.seq() > from) {
        ids.add(pool.pool());
        seen.add(from);
        seqs.add(pool.seq());
      }
    }
    pools = now;
    if (!ids.isEmpty()) {
      makeUp(connection, ids, seen, seqs);
    }
  }

  private void makeUp(Connection connection, List<Long> ids, List<Long> seen, List<Long> seqs)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Changed> changes =
        trip.query(
            CHANGED_SINCE,
            row ->
                new Changed(
                    row.getLong(1),
                    row.getLong(2),
                    row.getLong(3),
                    row.getBigDecimal(4),
                    row.getBigDecimal(5)),
            afterAt,
            afterHold,
            afterAt,
            afterHold,
            afterAt,
            afterHold,
            afterBuyer,
            SqlArray.bigints(ids),
            SqlArray.bigints(seen),
            SqlArray.bigints(seqs),
            scope,
            scope);
    trip.send();
    for (Changed change : changes.list()) {
      held.merge(change.pool(), change.held(), Long::sum);
      sold.merge(change.pool(), change.sold(), Long::sum);
      ofHolds = ofHolds.add(change.buyers());
      ofQuotas = ofQuotas.add(change.quotas());
    }
  }
}
