package dev.lockstep.hold;

import dev.lockstep.combine.Timely;
import dev.lockstep.hold.Plan.HoldChange;
import dev.lockstep.hold.Plan.PoolChange;
import dev.lockstep.hold.ScopeState.StoredHold;
import dev.lockstep.tx.Exchange;
import dev.lockstep.tx.LockOrder;
import dev.lockstep.tx.PointLookups;
import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.SqlArray;
import dev.lockstep.tx.SqlFault;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Writes a plan in one round trip, together with COMMIT if nothing is to follow: one statement a
 * table, whatever the size of the batch.
 *
 * <p>What the plan was decided on should still be there: the rows are locked, or nobody else has
 * sold since. But for a new hold, a buyer's quota or a pool that was only remembered another node
 * may have been faster. Each statement therefore guards itself: where a row is not as it was seen,
 * it sets a value that a constraint of the table refuses. That fails the transaction, also one of
 * the caller's, and it is run again on what is there now.
 *
 * <p>Pools come before everything else that is contended: a batch that has not locked them yet
 * waits here, and has nothing then that the one before it could want.
 *
 * <p>A statement that joins a table names the keys a second time ({@code = ANY}), so that just
 * those rows are read whatever a planner knows or believes of a scope, and pairs them by hash: in a
 * nested loop it would look each of them up once for each of them.
 */
final class PlanWriter {
  // Times are sent as microseconds. Lines of all holds are sent end to end. Columns are arrays of
  // equal length, read by subscript: a call of unnest for each would copy every value twice before
  // it is used. Texts, which have no fixed place in their array, are unnested and number the rows.
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

  // Joining the scope's row keeps the statement on one shard (and refuses an unknown scope). A hold
  // that is there already fails it, and so does another limit than the one decided by.
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

  // The compare-and-set that lets a hold end only once, and come back only once: it leaves the
  // state it was seen in, or takes one that does not exist.
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

  // The guard of a buyer's limit: it holds even against a node that saw no row to lock. No use is
  // below zero.
  private static final String RAISE_QUOTAS =
      """
      INSERT INTO lockstep.quota AS q (scope, buyer, used)
      SELECT s.scope, x.buyer, x.delta
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

  // Where the pool was only remembered this is also what locks it, in ascending order either way it
  // is joined. Nothing is held a negative number of times. (Without this guard the key of the audit
  // row, which has the sequence in it, would still refuse a sale that was decided on old counters.)
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

  // The same for a batch of one pool, which most are: there is nothing to pair.
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

  /** Writes, together with what the companions ask for, or with COMMIT. */
  void write(Exchange exchange) throws SQLException {
    RoundTrip trip = exchange.trip();
    trip.guarded(this::orConflict, guarded -> addTo(guarded, () -> {}));
    exchange.putOff(trip);
  }

  /**
   * Writes a plan of new holds that rests on nothing but what the statements guard. Should it be
   * lost and run again, the pools' sequences, and the holds that are there by then, refuse it; and
   * so does the clock, if it comes late.
   */
  void writeUnread(Exchange exchange) throws SQLException {
    RoundTrip trip = exchange.trip();
    trip.guarded(
        this::orLookAgain, guarded -> addTo(guarded, () -> Timely.require(guarded, plan.now())));
    exchange.only(trip);
  }

  /**
   * @param onceLocked adds what has to run when the pools are locked
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
      PointLookups.pairByHash(trip, true);
    }
    updatePools(trip);
    onceLocked.run();
    updateHolds(trip);
    units.paired(trip);
    lowerQuotas(trip, lowered);
    if (join) {
      PointLookups.pairByHash(trip, false);
    }
    units.lookedUp(trip);
    insertHolds(trip);
    insertAudit(trip);
    // Last: buyers are all that two batches of one scope may both want when they have no pool in
    // common, and the one that waits has done the rest by then.
    raiseQuotas(trip, quotas(delta -> delta > 0));
  }

  /** A constraint that fails here is a guard that did. */
  private SQLException orConflict(SQLException thrown) {
    return SqlFault.orConflict(thrown, "Rows of scope %d were not as seen".formatted(scope));
  }

  private SQLException orLookAgain(SQLException thrown) {
    return SqlFault.orLookAgain(thrown, "Rows of scope %d must be read".formatted(scope));
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
      HoldColumns columns = new HoldColumns(map(fresh, StoredHold::hold));
      trip.update(
          INSERT_HOLDS,
          plan.buyerLimit(),
          now,
          columns.ids(),
          SqlArray.bigints(map(fresh, StoredHold::fingerprint)),
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
      HoldColumns columns = new HoldColumns(map(changes, HoldChange::after));
      trip.update(
          UPDATE_HOLDS,
          SqlArray.smallints(map(changes, change -> change.before().code())),
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
          SqlArray.bigints(map(audit, change -> change.pool().value())),
          SqlArray.bigints(map(audit, StockChange::seq)),
          SqlArray.uuids(map(audit, change -> change.hold().value())),
          SqlArray.smallints(map(audit, change -> change.cause().code())),
          SqlArray.integers(map(audit, change -> change.before().held())),
          SqlArray.integers(map(audit, change -> change.after().held())),
          SqlArray.integers(map(audit, change -> change.before().sold())),
          SqlArray.integers(map(audit, change -> change.after().sold())),
          SqlArray.texts(map(audit, StockChange::actor)),
          scope);
    }
  }

  private void updatePools(RoundTrip trip) {
    List<PoolChange> pools = plan.pools();
    if (pools.size() == 1) {
      updatePool(trip, pools.get(0));
    } else if (!pools.isEmpty()) {
      SqlArray ids = SqlArray.bigints(map(pools, pool -> pool.counts().pool().value()));
      trip.update(
          UPDATE_POOLS,
          SqlArray.bigints(map(pools, PoolChange::seqBefore)),
          SqlArray.booleans(map(pools, PoolChange::paused)),
          SqlArray.integers(map(pools, pool -> pool.counts().held())),
          SqlArray.integers(map(pools, pool -> pool.counts().sold())),
          SqlArray.integers(map(pools, PoolChange::nextRank)),
          SqlArray.bigints(map(pools, PoolChange::seqAfter)),
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

  private static <T, R extends @Nullable Object> List<R> map(
      Collection<T> items, Function<? super T, ? extends R> column) {
    List<R> values = new ArrayList<>(items.size());
    items.forEach(item -> values.add(column.apply(item)));
    return values;
  }
}
