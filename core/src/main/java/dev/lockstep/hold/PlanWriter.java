package dev.lockstep.hold;

import static dev.lockstep.sql.SqlArray.column;

import dev.lockstep.combine.Timely;
import dev.lockstep.fault.SqlFault;
import dev.lockstep.hold.Plan.HoldChange;
import dev.lockstep.hold.Plan.PoolChange;
import dev.lockstep.hold.ScopeState.StoredHold;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.GuardFailed;
import dev.lockstep.sql.IndexLookups;
import dev.lockstep.sql.LockOrder;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.SqlArray;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntPredicate;

/**
 * Writes a plan in one round trip, together with COMMIT if nothing follows. The number of
 * statements does not grow with the batch.
 *
 * <p>The rows should still be as the plan saw them: they are locked, or no other node has sold
 * since. But another node may have been faster with a new hold, a buyer's quota, or a pool that was
 * only remembered. So each statement guards itself: if a row is not as seen, the statement sets a
 * value that a table constraint refuses. The transaction fails, the caller's own too, and runs
 * again on the current rows.
 *
 * <p>Pools come before every other contended row: a batch that has not locked them yet waits here,
 * and holds nothing that the batch ahead of it could want.
 *
 * <p>A statement that joins a table repeats the keys ({@code = ANY}), so that it reads just those
 * rows whatever the planner believes about a scope. It joins by hash: a nested loop would compare
 * every row with every new value.
 */
final class PlanWriter {
  // Times travel as microseconds; lines of all holds travel end to end. Columns are arrays of equal
  // length, read by subscript: unnest would copy every value twice. Texts differ in length, so a
  // subscript would have to search: they are unnested, and number the rows.
  private static final String MICROS = "timestamptz 'epoch' + interval '1 microsecond' * ";
  private static final String LINES =
      """
      a.pools[a.line_from[x.i] : a.line_to[x.i]], a.quantities[a.line_from[x.i] : a.line_to[x.i]],
        CASE WHEN a.unit_from[x.i] <= a.unit_to[x.i]
          THEN a.unit_pools[a.unit_from[x.i] : a.unit_to[x.i]] END,
        CASE WHEN a.unit_from[x.i] <= a.unit_to[x.i]
          THEN a.units[a.unit_from[x.i] : a.unit_to[x.i]] END""";
  private static final String ALL_LINES =
      """
      ?::bigint[] AS pools, ?::integer[] AS quantities, ?::integer[] AS line_from,
        ?::integer[] AS line_to, ?::bigint[] AS unit_pools, ?::integer[] AS units,
        ?::integer[] AS unit_from, ?::integer[] AS unit_to""";

  // Joining the scope's row keeps the statement on one shard and refuses an unknown scope. An
  // existing hold fails the statement; so does a buyer limit other than the one decided by (state
  // -1 violates a CHECK).
  private static final String INSERT_HOLDS =
      """
      INSERT INTO lockstep.hold (scope, hold, buyer, fingerprint, state, created_at, expires_at,
        extensions, ended_at, ended_by, pools, quantities, unit_pools, units)
      SELECT s.scope, a.hold[x.i], x.buyer, a.fingerprint[x.i],
        CASE WHEN coalesce(s.buyer_limit, 0) = ? THEN a.state[x.i] ELSE -1 END,
        ?, %1$s a.expires_at[x.i], a.extensions[x.i], %1$s nullif(a.ended_at[x.i], 0), x.ended_by,
        %2$s
      FROM lockstep.scope s,
        (SELECT ?::uuid[] AS hold, ?::bigint[] AS fingerprint, ?::smallint[] AS state,
          ?::bigint[] AS expires_at, ?::smallint[] AS extensions, ?::bigint[] AS ended_at,
          %3$s) AS a,
        unnest(?, ?) WITH ORDINALITY AS x (buyer, ended_by, i)
      WHERE s.scope = ?"""
          .formatted(MICROS, LINES, ALL_LINES);

  // The compare-and-set that lets a hold end only once and return only once: if the state is not
  // the one seen, it becomes -1, which a CHECK refuses.
  private static final String UPDATE_HOLDS =
      """
      UPDATE lockstep.hold h
      SET state = CASE WHEN h.state = a.before[x.i] THEN a.state[x.i] ELSE -1 END,
        expires_at = %1$s a.expires_at[x.i], extensions = a.extensions[x.i],
        ended_at = %1$s nullif(a.ended_at[x.i], 0), ended_by = x.ended_by,
        (pools, quantities, unit_pools, units) = ROW (%2$s)
      FROM (SELECT ?::smallint[] AS before, ?::smallint[] AS state, ?::bigint[] AS expires_at,
          ?::smallint[] AS extensions, ?::bigint[] AS ended_at, %3$s) AS a,
        unnest(?, ?) WITH ORDINALITY AS x (hold, ended_by, i)
      WHERE h.scope = ? AND h.hold = x.hold AND h.hold = ANY (?)"""
          .formatted(MICROS, LINES, ALL_LINES);

  // Guards the buyer's limit, also against a node that saw no row to lock, and against a limit
  // other than the one decided by: used = -1 violates a CHECK.
  private static final String RAISE_QUOTAS =
      """
      INSERT INTO lockstep.quota AS q (scope, buyer, used)
      SELECT s.scope, x.buyer, CASE WHEN s.buyer_limit = ? THEN x.delta ELSE -1 END
      FROM lockstep.scope s, unnest(?, ?) AS x (buyer, delta)
      WHERE s.scope = ?
      ON CONFLICT (scope, buyer) DO UPDATE SET used =
        CASE WHEN q.used + excluded.used <= ? THEN q.used + excluded.used ELSE -1 END""";

  private static final String LOWER_QUOTAS =
      """
      UPDATE lockstep.quota q SET used = q.used - x.delta
      FROM unnest(?, ?) AS x (buyer, delta)
      WHERE q.scope = ? AND q.buyer = x.buyer AND q.buyer = ANY (?)""";

  private static final String INSERT_AUDIT =
      """
      INSERT INTO lockstep.stock_audit (scope, pool, seq, hold, cause, actor, held_before, held_after,
        sold_before, sold_after, at)
      SELECT s.scope, a.pool[x.i], a.seq[x.i], a.hold[x.i], a.cause[x.i], x.actor,
        a.held_before[x.i], a.held_after[x.i], a.sold_before[x.i], a.sold_after[x.i], ?
      FROM lockstep.scope s,
        (SELECT ?::bigint[] AS pool, ?::bigint[] AS seq, ?::uuid[] AS hold, ?::smallint[] AS cause,
          ?::integer[] AS held_before, ?::integer[] AS held_after, ?::integer[] AS sold_before,
          ?::integer[] AS sold_after) AS a,
        unnest(?) WITH ORDINALITY AS x (actor, i)
      WHERE s.scope = ?""";

  // If the pool was only remembered, this statement also locks it; ascending, whichever side the
  // hash join builds from: see IndexLookups.joinByHash. held = -1 violates a CHECK. (Without this
  // guard, the audit row's key, which includes the sequence, would still refuse a sale decided on
  // old counters.)
  private static final String UPDATE_POOLS =
      """
      UPDATE lockstep.pool p
      SET held = CASE WHEN p.audit_seq = a.seq_before[x.i] AND p.paused = a.paused[x.i]
          THEN a.held[x.i] ELSE -1 END,
        sold = a.sold[x.i], next_rank = a.next_rank[x.i], audit_seq = a.seq_after[x.i]
      FROM (SELECT ?::bigint[] AS seq_before, ?::boolean[] AS paused, ?::integer[] AS held,
          ?::integer[] AS sold, ?::integer[] AS next_rank, ?::bigint[] AS seq_after) AS a,
        unnest(?) WITH ORDINALITY AS x (pool, i)
      WHERE p.scope = ? AND p.pool = x.pool AND p.pool = ANY (?)""";

  // The same for one pool, the most common batch: no join needed.
  private static final String UPDATE_POOL =
      """
      UPDATE lockstep.pool
      SET held = CASE WHEN audit_seq = ? AND paused = ? THEN ? ELSE -1 END,
        sold = ?, next_rank = ?, audit_seq = ?
      WHERE scope = ? AND pool = ?""";

  private final long scope;
  private final Plan plan;
  private final OffsetDateTime now;

  PlanWriter(ScopeId scope, Plan plan) {
    this.scope = scope.value();
    this.plan = plan;
    this.now = plan.now().atOffset(ZoneOffset.UTC);
  }

  /** Writes the plan, in one round trip with the companions' statements or with COMMIT. */
  void write(Exchange exchange) throws SQLException {
    RoundTrip trip = exchange.trip();
    trip.guarded(this::orConflict, guarded -> addTo(guarded, () -> {}));
    exchange.defer(trip);
  }

  /**
   * Writes a plan of new holds that was decided on cached pools; the statements guard everything it
   * rests on. If the attempt is lost and the work runs again, the pools' sequences and the existing
   * holds refuse the lost attempt. The clock refuses it if it comes late.
   */
  void writeUnread(Exchange exchange) throws SQLException {
    RoundTrip trip = exchange.trip();
    trip.guarded(
        this::orLookAgain, guarded -> addTo(guarded, () -> Timely.require(guarded, plan.now())));
    exchange.deferInOnePacket(trip);
  }

  /**
   * @param onceLocked adds what must run once the pools are locked
   */
  private void addTo(RoundTrip trip, Runnable onceLocked) {
    UnitWrites units = new UnitWrites(new ScopeId(scope), plan.units());
    Map<String, Integer> lowered = quotas(delta -> delta < 0);
    boolean join =
        lowered.size() > 1
            || plan.changedHolds().size() > 1
            || units.pairs()
            || plan.pools().size() > 1;
    if (join) {
      IndexLookups.joinByHash(trip, true);
    }
    updatePools(trip);
    onceLocked.run();
    updateHolds(trip);
    units.paired(trip);
    lowerQuotas(trip, lowered);
    if (join) {
      IndexLookups.joinByHash(trip, false);
    }
    units.lookedUp(trip);
    insertHolds(trip);
    insertAudit(trip);
    // Last: two batches of one scope without a common pool can contend only for buyers, and the one
    // that waits has finished everything else by then.
    raiseQuotas(trip, quotas(delta -> delta > 0));
  }

  /** A constraint failure here is a failed guard. */
  private SQLException orConflict(SQLException thrown) {
    return GuardFailed.orConflict(
        thrown, "Scope %d: another transaction was faster; run again".formatted(scope));
  }

  private SQLException orLookAgain(SQLException thrown) {
    return SqlFault.orLookAgain(
        thrown, "Scope %d: what was remembered is out of date; run again".formatted(scope));
  }

  private Map<String, Integer> quotas(IntPredicate which) {
    Map<String, Integer> sorted = new TreeMap<>(LockOrder.TEXT);
    plan.quotaDeltas()
        .forEach(
            (buyer, delta) -> {
              if (which.test(delta)) {
                sorted.put(buyer.value(), Math.abs(delta));
              }
            });
    return sorted;
  }

  private void raiseQuotas(RoundTrip trip, Map<String, Integer> raised) {
    if (!raised.isEmpty()) {
      trip.update(
          RAISE_QUOTAS,
          plan.buyerLimit(),
          SqlArray.texts(raised.keySet()),
          SqlArray.integers(raised.values()),
          scope,
          plan.buyerLimit());
    }
  }

  private void lowerQuotas(RoundTrip trip, Map<String, Integer> lowered) {
    if (!lowered.isEmpty()) {
      SqlArray buyers = SqlArray.texts(lowered.keySet());
      trip.update(LOWER_QUOTAS, buyers, SqlArray.integers(lowered.values()), scope, buyers);
    }
  }

  private void insertHolds(RoundTrip trip) {
    List<StoredHold> fresh = plan.newHolds();
    if (!fresh.isEmpty()) {
      HoldColumns columns = new HoldColumns(column(fresh, StoredHold::hold));
      trip.update(
          INSERT_HOLDS,
          plan.buyerLimit(),
          now,
          columns.ids(),
          SqlArray.bigints(column(fresh, StoredHold::fingerprint)),
          columns.states(),
          columns.expiry(),
          columns.extensions(),
          columns.endedAt(),
          columns.pools(),
          columns.quantities(),
          columns.lineFrom(),
          columns.lineTo(),
          columns.unitPools(),
          columns.units(),
          columns.unitFrom(),
          columns.unitTo(),
          columns.buyers(),
          columns.endedBy(),
          scope);
    }
  }

  private void updateHolds(RoundTrip trip) {
    List<HoldChange> changes = plan.changedHolds();
    if (!changes.isEmpty()) {
      HoldColumns columns = new HoldColumns(column(changes, HoldChange::after));
      trip.update(
          UPDATE_HOLDS,
          SqlArray.smallints(column(changes, change -> change.before().code())),
          columns.states(),
          columns.expiry(),
          columns.extensions(),
          columns.endedAt(),
          columns.pools(),
          columns.quantities(),
          columns.lineFrom(),
          columns.lineTo(),
          columns.unitPools(),
          columns.units(),
          columns.unitFrom(),
          columns.unitTo(),
          columns.ids(),
          columns.endedBy(),
          scope,
          columns.ids());
    }
  }

  private void insertAudit(RoundTrip trip) {
    List<StockChange> audit = plan.audit();
    if (!audit.isEmpty()) {
      trip.update(
          INSERT_AUDIT,
          now,
          SqlArray.bigints(column(audit, change -> change.pool().value())),
          SqlArray.bigints(column(audit, StockChange::seq)),
          SqlArray.uuids(column(audit, change -> change.hold().value())),
          SqlArray.smallints(column(audit, change -> change.cause().code())),
          SqlArray.integers(column(audit, change -> change.before().held())),
          SqlArray.integers(column(audit, change -> change.after().held())),
          SqlArray.integers(column(audit, change -> change.before().sold())),
          SqlArray.integers(column(audit, change -> change.after().sold())),
          SqlArray.texts(column(audit, StockChange::actor)),
          scope);
    }
  }

  private void updatePools(RoundTrip trip) {
    List<PoolChange> pools = plan.pools();
    if (pools.size() == 1) {
      updatePool(trip, pools.get(0));
    } else if (!pools.isEmpty()) {
      SqlArray ids = SqlArray.bigints(column(pools, pool -> pool.counts().pool().value()));
      trip.update(
          UPDATE_POOLS,
          SqlArray.bigints(column(pools, PoolChange::seqBefore)),
          SqlArray.booleans(column(pools, PoolChange::paused)),
          SqlArray.integers(column(pools, pool -> pool.counts().held())),
          SqlArray.integers(column(pools, pool -> pool.counts().sold())),
          SqlArray.integers(column(pools, PoolChange::nextRank)),
          SqlArray.bigints(column(pools, PoolChange::seqAfter)),
          ids,
          scope,
          ids);
    }
  }

  private void updatePool(RoundTrip trip, PoolChange pool) {
    trip.update(
        UPDATE_POOL,
        pool.seqBefore(),
        pool.paused(),
        pool.counts().held(),
        pool.counts().sold(),
        pool.nextRank(),
        pool.seqAfter(),
        scope,
        pool.counts().pool().value());
  }
}
