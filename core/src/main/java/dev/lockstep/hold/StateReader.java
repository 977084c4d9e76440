package dev.lockstep.hold;

import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Change;
import dev.lockstep.hold.ScopeState.PoolRow;
import dev.lockstep.hold.ScopeState.StoredHold;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.LockOrder;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.sql.StoredEnum;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Predicate;

/**
 * Locks and reads what any batch needs, in one round trip and in one order: holds, pools (whose
 * locks cover their units), quotas.
 *
 * <p>Quotas come after pools because a buyer's first quota row can be inserted only after the
 * decision. A batch that locked such a row before its pools could wait for a batch that has the
 * pools and is about to insert that row.
 */
final class StateReader {
  // Locks the holds that commands name, so that no other batch ends them; for an acquire, this
  // finds an earlier identical one. Sorted, so that two batches cannot deadlock. NO KEY UPDATE does
  // not block a transaction that only refers to a hold by its key.
  private static final String LOCK_NAMED_HOLDS =
      """
      SELECT %s FROM lockstep.hold
      WHERE scope = ? AND hold = ANY (?) ORDER BY hold FOR NO KEY UPDATE"""
          .formatted(HoldRow.COLUMNS);

  // Locks expired holds and skips those that another batch has locked.
  private static final String LOCK_EXPIRED_HOLDS =
      StoredEnum.sql(
          """
      SELECT %s FROM lockstep.hold
      WHERE scope = ? AND state = {HoldState.HELD} AND expires_at <= statement_timestamp()
      ORDER BY expires_at LIMIT ? FOR NO KEY UPDATE SKIP LOCKED"""
              .formatted(HoldRow.COLUMNS),
          HoldState.class);

  // Runs when all locks are held, and takes the time from then, not from BEGIN. An expired hold
  // that we have not locked by then is in another batch, or beyond the size of one batch: "sold
  // out" would be premature.
  private static final String READ_SCOPE =
      StoredEnum.sql(
          """
      SELECT statement_timestamp(), s.buyer_limit, (
        SELECT count(*) FROM (
          SELECT FROM lockstep.hold
          WHERE scope = ? AND state = {HoldState.HELD} AND expires_at <= statement_timestamp()
          ORDER BY expires_at LIMIT ?) due)
      FROM (VALUES (1)) AS one LEFT JOIN lockstep.scope s ON s.scope = ?""",
          HoldState.class);

  // Locks the quotas of acquiring buyers and of buyers whose holds may end, in the order in which
  // quotas are raised later. An array instead of a join keeps the plan an index lookup per buyer,
  // however large the table was when the plan was made. A buyer without a row is covered by the
  // guard of the later upsert.
  private static final String LOCK_QUOTAS =
      StoredEnum.sql(
          """
      SELECT buyer, used FROM lockstep.quota
      WHERE scope = ? AND buyer = ANY (ARRAY(
        SELECT unnest(?)
        UNION SELECT buyer FROM lockstep.hold WHERE scope = ? AND hold = ANY (?)
        UNION (SELECT buyer FROM lockstep.hold
               WHERE scope = ? AND state = {HoldState.HELD} AND expires_at <= statement_timestamp()
               ORDER BY expires_at LIMIT ?)))
      ORDER BY buyer %s FOR UPDATE"""
              .formatted(LockOrder.COLLATION),
          HoldState.class);

  private static final String LOCK_POOLS =
      StoredEnum.sql(
          """
      SELECT pool, has_units, total, held, sold, pause_reason, next_rank, audit_seq FROM lockstep.pool
      WHERE scope = ? AND pool = ANY (ARRAY(
        SELECT unnest(?)
        UNION SELECT unnest(pools) FROM lockstep.hold WHERE scope = ? AND hold = ANY (?)
        UNION SELECT unnest(due.pools)
              FROM (SELECT pools FROM lockstep.hold
                    WHERE scope = ? AND state = {HoldState.HELD} AND expires_at <= statement_timestamp()
                    ORDER BY expires_at LIMIT ?) due))
      ORDER BY pool FOR UPDATE""",
          HoldState.class);

  private final ScopeId scope;
  private final int sweepBatch;
  private final Predicate<PoolId> isCounted;
  private final Set<UUID> holds = new TreeSet<>();
  // The subset whose pools and buyers are needed: an acquire only asks whether its hold exists.
  private final Set<UUID> touched = new TreeSet<>();
  private final Set<String> buyers = new TreeSet<>();
  private final UnitDemand demand = new UnitDemand();

  StateReader(
      ScopeId scope, List<HoldCommand<?>> commands, int sweepBatch, Predicate<PoolId> isCounted) {
    this.scope = scope;
    this.sweepBatch = sweepBatch;
    this.isCounted = isCounted;
    for (HoldCommand<?> command : commands) {
      holds.add(command.hold().value());
      if (!(command instanceof Acquire)) {
        touched.add(command.hold().value());
      }
      if (command instanceof Acquire acquire) {
        buyers.add(acquire.buyer().value());
        demand.add(acquire.lines());
      } else if (command instanceof Change change) {
        demand.add(change.lines());
      }
    }
  }

  ScopeState read(Exchange exchange) throws SQLException {
    // An empty array would let the planner conclude that only the index of expiring holds can
    // match; it would then walk over all live holds.
    touched.add(HoldId.NONE.value());
    holds.add(HoldId.NONE.value());
    SqlArray touchedIds = SqlArray.uuids(touched);
    SqlArray poolIds = demand.pools();
    long s = scope.value();
    RoundTrip trip = exchange.trip();
    Rows<StoredHold> named = trip.query(LOCK_NAMED_HOLDS, this::hold, s, SqlArray.uuids(holds));
    Rows<StoredHold> due = trip.query(LOCK_EXPIRED_HOLDS, this::hold, s, sweepBatch);
    Rows<PoolRow> pools =
        trip.query(LOCK_POOLS, StateReader::pool, s, poolIds, s, touchedIds, s, sweepBatch);
    Rows<QuotaRow> quotas =
        trip.query(
            LOCK_QUOTAS,
            StateReader::quota,
            s,
            SqlArray.texts(buyers),
            s,
            touchedIds,
            s,
            sweepBatch);
    Rows<Due> scopeRow = trip.query(READ_SCOPE, StateReader::due, s, sweepBatch + 1, s);
    demand.readUnits(trip, scope, isCounted);
    trip.send();
    return assemble(
        scopeRow.list().get(0), named.list(), due.list(), quotas.list(), byId(pools.list()));
  }

  static Map<PoolId, PoolRow> byId(List<PoolRow> rows) {
    Map<PoolId, PoolRow> pools = new LinkedHashMap<>();
    rows.forEach(pool -> pools.put(pool.counts().pool(), pool));
    return pools;
  }

  private ScopeState assemble(
      Due row,
      List<StoredHold> named,
      List<StoredHold> due,
      List<QuotaRow> quotaRows,
      Map<PoolId, PoolRow> pools) {
    Map<BuyerId, Integer> used = new HashMap<>();
    quotaRows.forEach(quota -> used.put(quota.buyer(), quota.used()));
    Map<HoldId, StoredHold> found = new HashMap<>();
    named.forEach(hold -> found.put(hold.hold().id(), hold));
    List<HoldId> expired = new ArrayList<>();
    for (StoredHold stored : due) {
      Hold hold = stored.hold();
      // While another batch locks expired holds, we may get later ones, whose pools and buyers we
      // did not lock; leave them to the next batch.
      boolean locked =
          hold.lines().stream().allMatch(line -> pools.containsKey(line.pool()))
              && (row.scope().buyerLimit().isEmpty() || used.containsKey(hold.buyer()));
      if (locked) {
        found.put(hold.id(), stored);
        expired.add(hold.id());
      }
    }
    return new ScopeState(
        row.scope().now(),
        row.scope().buyerLimit(),
        found,
        expired,
        row.due() > expired.size(),
        used,
        pools,
        demand.offered(),
        demand.named());
  }

  private record Due(ScopeRow scope, int due) {}

  private record QuotaRow(BuyerId buyer, int used) {}

  private StoredHold hold(ResultSet row) throws SQLException {
    return HoldRow.read(scope, row);
  }

  private static Due due(ResultSet row) throws SQLException {
    return new Due(ScopeRow.read(row), row.getInt(3));
  }

  private static QuotaRow quota(ResultSet row) throws SQLException {
    return new QuotaRow(new BuyerId(row.getString(1)), row.getInt(2));
  }

  static PoolRow pool(ResultSet row) throws SQLException {
    return new PoolRow(
        new PoolCounts(new PoolId(row.getLong(1)), row.getInt(3), row.getInt(4), row.getInt(5)),
        row.getBoolean(2),
        row.getString(6),
        row.getInt(7),
        row.getLong(8));
  }
}
