package dev.lockstep.hold;

import dev.lockstep.hold.Plan.HoldChange;
import dev.lockstep.hold.Plan.PoolChange;
import dev.lockstep.hold.Plan.UnitChange;
import dev.lockstep.hold.ScopeState.StoredHold;
import dev.lockstep.tx.Exchange;
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
import java.util.TreeSet;
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
  // Times are sent as microseconds. Lines of all holds are sent end to end.
  private static final String MICROS = "timestamptz 'epoch' + interval '1 microsecond' * ";
  private static final String LINES =
      """
      l.pools[x.lines_before + 1 : x.lines_before + x.line_count],
        l.quantities[x.lines_before + 1 : x.lines_before + x.line_count],
        CASE WHEN x.unit_count > 0
          THEN l.unit_pools[x.units_before + 1 : x.units_before + x.unit_count] END,
        CASE WHEN x.unit_count > 0
          THEN l.units[x.units_before + 1 : x.units_before + x.unit_count] END""";
  private static final String ALL_LINES =
      """
      (SELECT ?::bigint[], ?::integer[], ?::bigint[], ?::integer[])
          AS l (pools, quantities, unit_pools, units)""";

  // Joining the scope's row keeps the statement on one shard (and refuses an unknown scope). A hold
  // that is there already fails it, and so does another limit than the one decided by.
  private static final String INSERT_HOLDS =
      """
      INSERT INTO lockstep.hold (scope, hold, buyer, fingerprint, state, created_at, expires_at,
        ended_at, ended_by, pools, quantities, unit_pools, units)
      SELECT s.scope, x.hold, x.buyer, x.fingerprint,
        CASE WHEN coalesce(s.buyer_limit, 0) = ? THEN x.state ELSE -1 END,
        ?, %1$s x.expires_at, %1$s x.ended_at, x.ended_by, %2$s
      FROM lockstep.scope s, %3$s,
        unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          AS x (hold, buyer, fingerprint, state, expires_at, ended_at, ended_by, lines_before,
                line_count, units_before, unit_count)
      WHERE s.scope = ?"""
          .formatted(MICROS, LINES, ALL_LINES);

  // The compare-and-set that lets a hold end only once, and come back only once: it leaves the
  // state
  // it was seen in, or takes one that does not exist.
  private static final String UPDATE_HOLDS =
      """
      UPDATE lockstep.hold h
      SET state = CASE WHEN h.state = x.before THEN x.state ELSE -1 END, expires_at = %1$s x.expires_at,
        ended_at = %1$s x.ended_at, ended_by = x.ended_by,
        (pools, quantities, unit_pools, units) = ROW (%2$s)
      FROM %3$s,
        unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          AS x (hold, before, state, expires_at, ended_at, ended_by, lines_before, line_count,
                units_before, unit_count)
      WHERE h.scope = ? AND h.hold = x.hold AND h.hold = ANY (?)"""
          .formatted(MICROS, LINES, ALL_LINES);

  // A unit changes hands only from the owner it was seen with: no unit is without a rank.
  private static final String UPDATE_UNITS =
      """
      UPDATE lockstep.unit u SET hold = x.after, returned = (x.after IS NULL),
        rank = CASE WHEN u.hold IS NOT DISTINCT FROM x.before THEN u.rank END
      FROM unnest(?, ?, ?, ?) AS x (pool, unit, before, after)
      WHERE u.scope = ? AND u.pool = x.pool AND u.unit = x.unit
        AND u.pool = ANY (?) AND u.unit = ANY (?)""";

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
      SELECT s.scope, x.pool, x.seq, x.hold, x.cause, x.actor, x.held_before, x.held_after,
        x.sold_before, x.sold_after, ?
      FROM lockstep.scope s,
        unnest(?, ?, ?, ?, ?, ?, ?, ?, ?)
          AS x (pool, seq, hold, cause, actor, held_before, held_after, sold_before, sold_after)
      WHERE s.scope = ?""";

  // Where the pool was only remembered this is also what locks it, in ascending order either way it
  // is joined. Nothing is held a negative number of times.
  private static final String UPDATE_POOLS =
      """
      UPDATE lockstep.pool p
      SET held =
          CASE WHEN p.audit_seq = x.seq_before AND p.paused = x.paused THEN x.held ELSE -1 END,
        sold = x.sold, next_rank = x.next_rank, audit_seq = x.seq_after
      FROM unnest(?, ?, ?, ?, ?, ?, ?)
        AS x (pool, paused, held, sold, next_rank, seq_before, seq_after)
      WHERE p.scope = ? AND p.pool = x.pool AND p.pool = ANY (?)""";

  private final long scope;
  private final Plan plan;
  private final OffsetDateTime now;

  PlanWriter(ScopeId scope, Plan plan) {
    this.scope = scope.value();
    this.plan = plan;
    this.now = plan.now().atOffset(ZoneOffset.UTC);
  }

  /**
   * Writes.
   *
   * @param last nothing follows but COMMIT
   */
  void write(Exchange exchange, boolean last) throws SQLException {
    RoundTrip trip = statements(exchange);
    if (last) {
      exchange.last(trip);
    } else {
      trip.send();
    }
  }

  /**
   * Writes a plan of new holds that rests on nothing but what the statements guard. Should it be
   * lost and run again, the pools' sequences, and the holds that are there by then, refuse it.
   */
  void writeUnread(Exchange exchange) throws SQLException {
    exchange.only(statements(exchange));
  }

  private RoundTrip statements(Exchange exchange) throws SQLException {
    RoundTrip trip = exchange.trip().failingAs(this::orConflict);
    Map<String, Integer> lowered = quotas(delta -> delta < 0);
    boolean join =
        lowered.size() > 1
            || plan.changedHolds().size() > 1
            || plan.units().size() > 1
            || plan.pools().size() > 1;
    if (join) {
      pairByHash(trip, true);
    }
    updatePools(trip);
    updateHolds(trip);
    updateUnits(trip);
    lowerQuotas(trip, lowered);
    if (join) {
      pairByHash(trip, false);
    }
    raiseQuotas(trip, quotas(delta -> delta > 0));
    insertHolds(trip);
    insertAudit(trip);
    return trip;
  }

  private static void pairByHash(RoundTrip trip, boolean on) {
    trip.update("SET LOCAL enable_hashjoin = " + (on ? "on" : "off"));
    trip.update("SET LOCAL enable_nestloop = " + (on ? "off" : "on"));
  }

  /** A constraint that fails here is a guard that did. */
  private SQLException orConflict(SQLException thrown) {
    if (SqlFault.of(thrown) != SqlFault.CONSTRAINT) {
      return thrown;
    }
    SQLException conflict = SqlFault.conflict("Rows of scope %d were not as seen".formatted(scope));
    conflict.initCause(thrown);
    return conflict;
  }

  private Map<String, Integer> quotas(IntPredicate which) {
    Map<String, Integer> sorted = new TreeMap<>();
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
      HoldColumns columns = new HoldColumns(fresh.stream().map(StoredHold::hold).toList());
      trip.update(
          INSERT_HOLDS,
          plan.buyerLimit(),
          now,
          columns.pools(),
          columns.quantities(),
          columns.unitPools(),
          columns.units(),
          columns.ids(),
          SqlArray.texts(columns.of(hold -> hold.buyer().value())),
          SqlArray.bigints(fresh.stream().map(StoredHold::fingerprint).toList()),
          columns.states(),
          columns.expiry(),
          columns.endedAt(),
          columns.endedBy(),
          columns.linesBefore(),
          columns.lineCounts(),
          columns.unitsBefore(),
          columns.unitCounts(),
          scope);
    }
  }

  private void updateHolds(RoundTrip trip) {
    List<HoldChange> changes = plan.changedHolds();
    if (!changes.isEmpty()) {
      HoldColumns columns = new HoldColumns(map(changes, HoldChange::after));
      trip.update(
          UPDATE_HOLDS,
          columns.pools(),
          columns.quantities(),
          columns.unitPools(),
          columns.units(),
          columns.ids(),
          SqlArray.smallints(map(changes, change -> change.before().code())),
          columns.states(),
          columns.expiry(),
          columns.endedAt(),
          columns.endedBy(),
          columns.linesBefore(),
          columns.lineCounts(),
          columns.unitsBefore(),
          columns.unitCounts(),
          scope,
          columns.ids());
    }
  }

  private void updateUnits(RoundTrip trip) {
    List<UnitChange> units = plan.units();
    if (!units.isEmpty()) {
      trip.update(
          UPDATE_UNITS,
          SqlArray.bigints(map(units, unit -> unit.pool().value())),
          SqlArray.integers(map(units, UnitChange::unit)),
          SqlArray.uuids(map(units, unit -> uuid(unit.before()))),
          SqlArray.uuids(map(units, unit -> uuid(unit.after()))),
          scope,
          SqlArray.bigints(new TreeSet<>(map(units, unit -> unit.pool().value()))),
          SqlArray.integers(map(units, UnitChange::unit)));
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
          SqlArray.texts(map(audit, StockChange::actor)),
          SqlArray.integers(map(audit, change -> change.before().held())),
          SqlArray.integers(map(audit, change -> change.after().held())),
          SqlArray.integers(map(audit, change -> change.before().sold())),
          SqlArray.integers(map(audit, change -> change.after().sold())),
          scope);
    }
  }

  private void updatePools(RoundTrip trip) {
    List<PoolChange> pools = plan.pools();
    if (!pools.isEmpty()) {
      SqlArray ids = SqlArray.bigints(map(pools, pool -> pool.counts().pool().value()));
      trip.update(
          UPDATE_POOLS,
          ids,
          SqlArray.booleans(map(pools, PoolChange::paused)),
          SqlArray.integers(map(pools, pool -> pool.counts().held())),
          SqlArray.integers(map(pools, pool -> pool.counts().sold())),
          SqlArray.integers(map(pools, PoolChange::nextRank)),
          SqlArray.bigints(map(pools, PoolChange::seqBefore)),
          SqlArray.bigints(map(pools, PoolChange::seqAfter)),
          scope,
          ids);
    }
  }

  private static java.util.@Nullable UUID uuid(@Nullable HoldId id) {
    return id == null ? null : id.value();
  }

  private static <T, R extends @Nullable Object> List<R> map(
      Collection<T> items, Function<? super T, ? extends R> column) {
    List<R> values = new ArrayList<>(items.size());
    items.forEach(item -> values.add(column.apply(item)));
    return values;
  }
}
