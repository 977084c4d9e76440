package dev.lockstep.hold;

import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.ScopeState.PoolRow;
import dev.lockstep.hold.ScopeState.StoredHold;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.sql.StoredEnum;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Reads the state for a batch that only acquires, the common case in a rush: locks the pools and
 * nothing else.
 *
 * <p>It ends no expired holds. If one could change a refusal, the command is decided again by
 * {@link StateReader}. Quotas and holds are read without locks, because the writes are guarded: if
 * the buyer reaches the limit on another node meanwhile, or the same acquire runs there, the write
 * fails and the batch is decided again.
 */
final class AcquireReader {
  private static final String LOCK_POOLS =
      """
      SELECT pool, has_units, total, held, sold, pause_reason, next_rank, audit_seq FROM lockstep.pool
      WHERE scope = ? AND pool = ANY (?) ORDER BY pool FOR UPDATE""";

  // Runs after the pools are locked, with its own snapshot and time. now() would be the time of
  // BEGIN, and a hold that expired during the wait for the lock would pass for live. One row per
  // quota, at least one.
  private static final String READ_BUYERS =
      StoredEnum.sql(
          """
      SELECT statement_timestamp(), s.buyer_limit,
        EXISTS (
          SELECT FROM lockstep.hold
          WHERE scope = ? AND state = {HoldState.HELD} AND expires_at <= statement_timestamp()),
        EXISTS (SELECT FROM lockstep.hold WHERE scope = ? AND hold = ANY (?)),
        q.buyer, q.used
      FROM (VALUES (1)) AS one LEFT JOIN lockstep.scope s ON s.scope = ?
        LEFT JOIN lockstep.quota q ON q.scope = ? AND q.buyer = ANY (?)""",
          HoldState.class);

  private static final String READ_HOLDS =
      "SELECT %s FROM lockstep.hold WHERE scope = ? AND hold = ANY (?)".formatted(HoldRow.COLUMNS);

  private final ScopeId scope;
  private final UnitDemand demand = new UnitDemand();
  private final Set<UUID> holds = new TreeSet<>();
  private final Set<String> buyers = new TreeSet<>();
  private final Predicate<PoolId> isCounted;
  private final Map<BuyerId, Integer> used = new HashMap<>();
  private @Nullable Scope read;

  /** The columns that are the same in every row. */
  private record Scope(ScopeRow row, boolean expired, boolean known) {}

  AcquireReader(ScopeId scope, List<Acquire> commands, Predicate<PoolId> isCounted) {
    this.scope = scope;
    this.isCounted = isCounted;
    for (Acquire command : commands) {
      holds.add(command.hold().value());
      buyers.add(command.buyer().value());
      demand.add(command.lines());
    }
  }

  ScopeState read(Exchange exchange) throws SQLException {
    long s = scope.value();
    SqlArray ids = SqlArray.uuids(holds);
    RoundTrip trip = exchange.trip();
    Rows<PoolRow> pools = trip.query(LOCK_POOLS, StateReader::pool, s, demand.pools());
    trip.query(READ_BUYERS, this::buyer, s, s, ids, s, s, SqlArray.texts(buyers));
    demand.readUnits(trip, scope, isCounted);
    trip.send();
    Scope found = read;
    if (found == null) {
      throw new IllegalStateException("The query for scope %d returned no row".formatted(s));
    }
    return new ScopeState(
        found.row().now(),
        found.row().buyerLimit(),
        found.known() ? known(exchange, ids) : Map.of(),
        List.of(),
        found.expired(),
        used,
        StateReader.byId(pools.list()),
        demand.offered(),
        demand.named());
  }

  /** Reads the holds of repeated acquires. They are rare, so only they pay another round trip. */
  private Map<HoldId, StoredHold> known(Exchange exchange, SqlArray ids) throws SQLException {
    RoundTrip trip = exchange.trip();
    Rows<StoredHold> rows =
        trip.query(READ_HOLDS, row -> HoldRow.read(scope, row), scope.value(), ids);
    trip.send();
    Map<HoldId, StoredHold> known = new HashMap<>();
    rows.list().forEach(hold -> known.put(hold.hold().id(), hold));
    return known;
  }

  private boolean buyer(ResultSet row) throws SQLException {
    if (read == null) {
      read = new Scope(ScopeRow.read(row), row.getBoolean(3), row.getBoolean(4));
    }
    String buyer = row.getString(5);
    if (buyer != null) {
      used.put(new BuyerId(buyer), row.getInt(6));
    }
    return true;
  }
}
