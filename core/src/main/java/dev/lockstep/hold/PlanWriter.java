package dev.lockstep.hold;

import dev.lockstep.hold.Plan.PoolChange;
import dev.lockstep.hold.Plan.UnitChange;
import dev.lockstep.hold.ScopeState.StoredHold;
import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import dev.lockstep.tx.SqlArray;
import dev.lockstep.tx.SqlFault;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes a plan in one round trip: one statement a table, whatever the size of the batch.
 *
 * <p>The rows are locked, so every guard below should hold. Each is checked all the same: a count
 * that falls short means that something changed a row behind the lock's back or, for a new hold or
 * a new buyer, that another node was faster; the transaction is then run again on what is there
 * now.
 *
 * <p>A statement that joins a table names the keys a second time ({@code = ANY}). Then every plan
 * reads just those rows, also one that was made from no statistics or for a table still small.
 */
final class PlanWriter {
  // Joining the scope's row keeps the statement on one shard (and refuses an unknown scope).
  private static final String INSERT_HOLDS =
      """
      INSERT INTO lockstep.hold (scope, hold, buyer, fingerprint, state, created_at, expires_at,
        ended_at, ended_by, pools, quantities, unit_pools, units)
      SELECT s.scope, x.hold, x.buyer, x.fingerprint, x.state, ?, x.expires_at::timestamptz,
        x.ended_at::timestamptz, x.ended_by, x.pools::bigint[], x.quantities::integer[],
        x.unit_pools::bigint[], x.units::integer[]
      FROM lockstep.scope s,
        unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          AS x (hold, buyer, fingerprint, state, expires_at, ended_at, ended_by, pools, quantities,
                unit_pools, units)
      WHERE s.scope = ?
      ON CONFLICT (scope, hold) DO NOTHING""";

  // state < 1, which is 0, is the compare-and-set that lets a hold end only once. Not "= 0": the
  // index of what expires would seem a way to find a hold, and is a walk over all that are live.
  private static final String UPDATE_HOLDS =
      """
      UPDATE lockstep.hold h
      SET state = x.state, expires_at = x.expires_at::timestamptz, ended_at = x.ended_at::timestamptz,
        ended_by = x.ended_by, pools = x.pools::bigint[], quantities = x.quantities::integer[],
        unit_pools = x.unit_pools::bigint[], units = x.units::integer[]
      FROM unnest(?, ?, ?, ?, ?, ?, ?, ?, ?)
        AS x (hold, state, expires_at, ended_at, ended_by, pools, quantities, unit_pools, units)
      WHERE h.scope = ? AND h.hold = x.hold AND h.hold = ANY (?) AND h.state < 1""";

  // A unit changes hands only from the owner it was seen with.
  private static final String UPDATE_UNITS =
      """
      UPDATE lockstep.unit u SET hold = x.after, returned = (x.after IS NULL)
      FROM unnest(?, ?, ?, ?) AS x (pool, unit, before, after)
      WHERE u.scope = ? AND u.pool = x.pool AND u.unit = x.unit
        AND u.pool = ANY (?) AND u.unit = ANY (?) AND u.hold IS NOT DISTINCT FROM x.before""";

  // The guard of a buyer's limit: it holds even against a node that saw no row to lock.
  private static final String RAISE_QUOTAS =
      """
      INSERT INTO lockstep.quota AS q (scope, buyer, used)
      SELECT s.scope, x.buyer, x.delta
      FROM lockstep.scope s, unnest(?, ?) AS x (buyer, delta)
      WHERE s.scope = ?
      ON CONFLICT (scope, buyer) DO UPDATE SET used = q.used + excluded.used
      WHERE q.used + excluded.used <= ?""";

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

  private static final String UPDATE_POOLS =
      """
      UPDATE lockstep.pool p
      SET held = x.held, sold = x.sold, next_rank = x.next_rank, audit_seq = x.seq_after
      FROM unnest(?, ?, ?, ?, ?, ?) AS x (pool, held, sold, next_rank, seq_before, seq_after)
      WHERE p.scope = ? AND p.pool = x.pool AND p.pool = ANY (?) AND p.audit_seq = x.seq_before""";

  private static final String REFUSE =
      """
      DO $$ BEGIN
        RAISE EXCEPTION '%s' USING ERRCODE = 'serialization_failure';
      END $$""";

  private final long scope;
  private final Plan plan;
  private final OffsetDateTime now;
  private final List<Guard> guards = new ArrayList<>();

  private record Guard(String what, int expected, Rows<?> actual) {}

  PlanWriter(ScopeId scope, Plan plan) {
    this.scope = scope.value();
    this.plan = plan;
    this.now = plan.now().atOffset(ZoneOffset.UTC);
  }

  void write(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    if (!plan.units().isEmpty() || !plan.changedHolds().isEmpty() || plan.pools().size() > 1) {
      // The rows are few and known; pairing them with their new values is best done by hash.
      trip.update("SET LOCAL enable_hashjoin = on");
    }
    addQuotas(trip);
    addHolds(trip);
    addUnits(trip);
    addAudit(trip);
    addPools(trip);
    trip.send();
    for (Guard guard : guards) {
      if (guard.actual().changed() != guard.expected()) {
        throw refuse(
            connection,
            "%d of %d %s of scope %d were as seen"
                .formatted(guard.actual().changed(), guard.expected(), guard.what(), scope));
      }
    }
  }

  /**
   * The rest of the plan is already written. So the server itself fails the transaction: a caller
   * on whose connection this runs cannot commit the half of it.
   */
  private static SQLException refuse(Connection connection, String message) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(REFUSE.formatted(message));
    }
    return SqlFault.conflict(message);
  }

  private void addQuotas(RoundTrip trip) {
    Map<String, Integer> raised = new TreeMap<>();
    Map<String, Integer> lowered = new TreeMap<>();
    plan.quotaDeltas()
        .forEach(
            (buyer, delta) -> (delta > 0 ? raised : lowered).put(buyer.value(), Math.abs(delta)));
    if (!raised.isEmpty()) {
      guards.add(
          new Guard(
              "quotas",
              raised.size(),
              trip.update(
                  RAISE_QUOTAS,
                  SqlArray.texts(raised.keySet()),
                  SqlArray.integers(raised.values()),
                  scope,
                  plan.buyerLimit())));
    }
    if (!lowered.isEmpty()) {
      guards.add(
          new Guard(
              "quotas",
              lowered.size(),
              trip.update(
                  LOWER_QUOTAS,
                  SqlArray.texts(lowered.keySet()),
                  SqlArray.integers(lowered.values()),
                  scope,
                  SqlArray.texts(lowered.keySet()))));
    }
  }

  private void addHolds(RoundTrip trip) {
    List<StoredHold> fresh = plan.newHolds();
    if (!fresh.isEmpty()) {
      HoldColumns columns = new HoldColumns(fresh.stream().map(StoredHold::hold).toList());
      guards.add(
          new Guard(
              "new holds",
              fresh.size(),
              trip.update(
                  INSERT_HOLDS,
                  now,
                  columns.ids(),
                  SqlArray.texts(columns.of(hold -> hold.buyer().value())),
                  SqlArray.bigints(fresh.stream().map(StoredHold::fingerprint).toList()),
                  columns.states(),
                  columns.expiry(),
                  columns.endedAt(),
                  columns.endedBy(),
                  columns.pools(),
                  columns.quantities(),
                  columns.unitPools(),
                  columns.units(),
                  scope)));
    }
    if (!plan.changedHolds().isEmpty()) {
      HoldColumns columns = new HoldColumns(plan.changedHolds());
      guards.add(
          new Guard(
              "holds",
              plan.changedHolds().size(),
              trip.update(
                  UPDATE_HOLDS,
                  columns.ids(),
                  columns.states(),
                  columns.expiry(),
                  columns.endedAt(),
                  columns.endedBy(),
                  columns.pools(),
                  columns.quantities(),
                  columns.unitPools(),
                  columns.units(),
                  scope,
                  columns.ids())));
    }
  }

  private void addUnits(RoundTrip trip) {
    List<UnitChange> units = plan.units();
    if (!units.isEmpty()) {
      guards.add(
          new Guard(
              "units",
              units.size(),
              trip.update(
                  UPDATE_UNITS,
                  SqlArray.bigints(map(units, unit -> unit.pool().value())),
                  SqlArray.integers(map(units, UnitChange::unit)),
                  SqlArray.uuids(map(units, unit -> uuid(unit.before()))),
                  SqlArray.uuids(map(units, unit -> uuid(unit.after()))),
                  scope,
                  SqlArray.bigints(new TreeSet<>(map(units, unit -> unit.pool().value()))),
                  SqlArray.integers(map(units, UnitChange::unit)))));
    }
  }

  private void addAudit(RoundTrip trip) {
    List<StockChange> audit = plan.audit();
    if (!audit.isEmpty()) {
      guards.add(
          new Guard(
              "audit rows",
              audit.size(),
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
                  scope)));
    }
  }

  private void addPools(RoundTrip trip) {
    List<PoolChange> pools = plan.pools();
    if (!pools.isEmpty()) {
      guards.add(
          new Guard(
              "pools",
              pools.size(),
              trip.update(
                  UPDATE_POOLS,
                  SqlArray.bigints(map(pools, pool -> pool.counts().pool().value())),
                  SqlArray.integers(map(pools, pool -> pool.counts().held())),
                  SqlArray.integers(map(pools, pool -> pool.counts().sold())),
                  SqlArray.integers(map(pools, PoolChange::nextRank)),
                  SqlArray.bigints(map(pools, PoolChange::seqBefore)),
                  SqlArray.bigints(map(pools, PoolChange::seqAfter)),
                  scope,
                  SqlArray.bigints(map(pools, pool -> pool.counts().pool().value())))));
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
