package dev.lockstep.hold;

import dev.lockstep.combine.Slices;
import dev.lockstep.hold.PoolFacts.Mark;
import dev.lockstep.hold.StockChange.Cause;
import dev.lockstep.hold.StockViolation.StockInvariant;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.StoredEnum;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * Checks a pool's audit rows from its mark on, a few thousand at a time. Audit rows never change,
 * so each slice may use its own snapshot.
 *
 * <p>It also checks their holds: an ended hold must agree with its audit row, for good.
 */
final class ChainSlices {
  // An ended hold has the quantity that its last audit row moved. A held one may have changed
  // since, so only its existence is checked. What was sold may have come back in parts: only then
  // do the subqueries run, which add up the parts by their index.
  private static final String NEXT =
      StoredEnum.sql(
          """
      SELECT count(*), max(c.seq), min(c.seq) FILTER (WHERE NOT c.linked),
        (array_agg(c.held_after ORDER BY c.seq DESC))[1],
        (array_agg(c.sold_after ORDER BY c.seq DESC))[1],
        min(c.seq) FILTER (WHERE NOT c.told)
      FROM (
        SELECT a.seq, a.held_after, a.sold_after,
          %s AS linked,
          CASE a.cause
            WHEN {Cause.SOLD} THEN h.state IN ({HoldState.SOLD}, {HoldState.RETURNED})
              AND CASE WHEN l.quantity = a.sold_after - a.sold_before THEN true
                ELSE a.sold_after - a.sold_before =
                  CASE WHEN h.state = {HoldState.SOLD} THEN coalesce(l.quantity, 0) ELSE 0 END
                  + (SELECT sum(b.sold_before - b.sold_after) FROM lockstep.stock_audit b
                     WHERE b.scope = a.scope AND b.pool = a.pool AND b.hold = a.hold
                       AND b.cause = {Cause.RETURNED}) END
            WHEN {Cause.RELEASED} THEN h.state = {HoldState.RELEASED}
              AND l.quantity = a.held_before - a.held_after
            WHEN {Cause.EXPIRED} THEN h.state = {HoldState.EXPIRED}
              AND l.quantity = a.held_before - a.held_after
            WHEN {Cause.RETURNED} THEN
              CASE WHEN h.state = {HoldState.RETURNED}
                AND l.quantity = a.sold_before - a.sold_after THEN true
              WHEN h.state = {HoldState.RETURNED} THEN l.quantity IS NULL OR EXISTS (
                SELECT 1 FROM lockstep.stock_audit b
                WHERE b.scope = a.scope AND b.pool = a.pool AND b.hold = a.hold
                  AND b.cause = {Cause.RETURNED} AND b.seq > a.seq)
              ELSE h.state = {HoldState.SOLD} END
            WHEN {Cause.ACQUIRED} THEN h.state IS NOT NULL
            WHEN {Cause.CHANGED} THEN h.state IS NOT NULL
            ELSE true END IS TRUE AS told
        FROM (SELECT * FROM lockstep.stock_audit
              WHERE scope = ? AND pool = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?) a
        LEFT JOIN lockstep.hold h ON h.scope = ? AND h.hold = a.hold
        LEFT JOIN LATERAL (SELECT h.quantities[array_position(h.pools, a.pool)] AS quantity) l
          ON true
        WINDOW w AS (ORDER BY a.seq)) c"""
              .formatted(StockFindings.linked("?", "?", "?")),
          HoldState.class,
          Cause.class);

  private final Slices slices;
  private final long scope;
  private final StockFindings found;

  ChainSlices(Slices slices, long scope) {
    this.slices = slices;
    this.scope = scope;
    this.found = new StockFindings(scope);
  }

  private record Slice(
      long rows, long last, long firstBroken, int held, int sold, long firstUntold) {}

  List<StockViolation> violations(List<PoolFacts> pools) {
    pools.forEach(this::check);
    return found.all();
  }

  private void check(PoolFacts pool) {
    Mark mark = pool.from();
    long rows = 0;
    boolean more = mark.seq() < pool.auditSeq();
    while (more) {
      Mark from = mark;
      Slice slice = slices.next(connection -> next(connection, pool, from));
      rows += slice.rows();
      if (slice.firstUntold() != 0) {
        found.add(
            StockInvariant.HOLDS,
            pool.pool(),
            "audit row %d does not match its hold".formatted(slice.firstUntold()));
      }
      if (slice.firstBroken() != 0) {
        found.chain(pool, slice.firstBroken(), rows);
        return;
      }
      mark = new Mark(slice.last(), slice.held(), slice.sold(), mark.total());
      more = slice.rows() == slices.page();
    }
    found.chain(pool, 0, rows);
  }

  private Slice next(Connection connection, PoolFacts pool, Mark from) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Slice> rows =
        trip.query(
            NEXT,
            row ->
                new Slice(
                    row.getLong(1),
                    row.getLong(2),
                    row.getLong(3),
                    row.getInt(4),
                    row.getInt(5),
                    row.getLong(6)),
            from.seq(),
            from.held(),
            from.sold(),
            scope,
            pool.pool(),
            from.seq(),
            pool.auditSeq(),
            slices.page(),
            scope);
    trip.send();
    return rows.list().get(0);
  }
}
