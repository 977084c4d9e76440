package dev.lockstep.hold;

import dev.lockstep.hold.StockChange.Cause;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.SqlArray;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Holds and stock audit as stored, thousands per statement, for checks that compare them with other
 * records.
 *
 * <p>Every method runs on the caller's connection, in one round trip, and locks nothing. Each
 * statement reads by key or follows an index from where the last page ended. To compare what
 * several of them read, use a transaction with {@link dev.lockstep.tx.Isolation#REPEATABLE_READ}:
 * all its statements see one snapshot. With {@link dev.lockstep.tx.TxOptions#indexLookups} a plan
 * never scans a table, whatever the statistics say.
 */
public final class HoldRecords {
  /** The most rows in a page, and the most holds looked up at once. */
  public static final int MAX_ROWS = Holds.MAX_PAGE;

  private static final String FIND =
      """
      SELECT %s, scope FROM unnest(?, ?) AS wanted (of_scope, of_hold)
      JOIN lockstep.hold ON scope = of_scope AND hold = of_hold"""
          .formatted(HoldRow.COLUMNS);

  // Walks the index hold_newest backwards: it is on this expression.
  private static final String OLDEST_FIRST =
      """
      SELECT created_at, hold, state FROM lockstep.hold
      WHERE scope + 0 = ? AND (created_at, hold) > (?, ?)
      ORDER BY created_at, hold LIMIT ?""";

  private static final String NEWEST_CHANGES =
      """
      SELECT scope, pool, audit_seq FROM lockstep.pool
      WHERE (scope, pool) > (?, ?) ORDER BY scope, pool LIMIT ?""";

  private static final String CHANGES =
      """
      SELECT seq, hold, cause FROM lockstep.stock_audit
      WHERE scope = ? AND pool = ? AND seq > ? ORDER BY seq LIMIT ?""";

  private HoldRecords() {}

  /** A hold and its place among the holds of its scope, which are ordered by age, then id. */
  public record ByAge(Instant createdAt, HoldId id, HoldState state) {}

  /**
   * The newest change of a pool.
   *
   * @param seq the newest sequence number in the pool's audit; 0 if nothing has changed yet
   */
  public record NewestChange(ScopeId scope, PoolId pool, long seq) {}

  /**
   * One row of the stock audit, without its counters.
   *
   * @param hold all zeros if the total changed and no hold did
   */
  public record HoldChange(long seq, HoldId hold, Cause cause) {}

  /** Finds these holds, as last written. Holds that do not exist are left out. */
  public static List<Hold> find(
      Connection connection, Map<ScopeId, ? extends Collection<HoldId>> wanted)
      throws SQLException {
    List<Long> scopes = new ArrayList<>();
    List<UUID> ids = new ArrayList<>();
    wanted.forEach(
        (scope, holds) ->
            holds.forEach(
                hold -> {
                  scopes.add(scope.value());
                  ids.add(hold.value());
                }));
    if (ids.isEmpty()) {
      return List.of();
    }
    requireRows(ids.size());
    return RoundTrip.list(
        connection,
        FIND,
        row -> HoldRow.read(new ScopeId(row.getLong("scope")), row).hold(),
        SqlArray.bigints(scopes),
        SqlArray.uuids(ids));
  }

  /** The holds of a scope after this place, oldest first. */
  public static List<ByAge> oldestFirst(
      Connection connection, ScopeId scope, Instant afterCreatedAt, HoldId after, int limit)
      throws SQLException {
    requireRows(limit);
    return RoundTrip.list(
        connection,
        OLDEST_FIRST,
        row ->
            new ByAge(
                row.getObject(1, OffsetDateTime.class).toInstant(),
                new HoldId(row.getObject(2, UUID.class)),
                HoldState.of(row.getInt(3))),
        scope.value(),
        afterCreatedAt.atOffset(ZoneOffset.UTC),
        after.value(),
        limit);
  }

  /** The newest change of every pool after this one, by scope and pool. */
  public static List<NewestChange> newestChanges(
      Connection connection, ScopeId afterScope, PoolId afterPool, int limit) throws SQLException {
    requireRows(limit);
    return RoundTrip.list(
        connection,
        NEWEST_CHANGES,
        row ->
            new NewestChange(
                new ScopeId(row.getLong(1)), new PoolId(row.getLong(2)), row.getLong(3)),
        afterScope.value(),
        afterPool.value(),
        limit);
  }

  /** The changes of a pool after this one, oldest first. */
  public static List<HoldChange> changes(
      Connection connection, ScopeId scope, PoolId pool, long afterSeq, int limit)
      throws SQLException {
    requireRows(limit);
    return RoundTrip.list(
        connection,
        CHANGES,
        row ->
            new HoldChange(
                row.getLong(1), new HoldId(row.getObject(2, UUID.class)), Cause.of(row.getInt(3))),
        scope.value(),
        pool.value(),
        afterSeq,
        limit);
  }

  private static void requireRows(int rows) {
    if (rows < 1 || rows > MAX_ROWS) {
      throw new IllegalArgumentException(
          "1 to " + MAX_ROWS + " rows are read at once, not " + rows);
    }
  }
}
