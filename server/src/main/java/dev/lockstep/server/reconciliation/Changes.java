package dev.lockstep.server.reconciliation;

import dev.lockstep.hold.HoldRecords;
import dev.lockstep.hold.HoldRecords.HoldChange;
import dev.lockstep.hold.HoldRecords.NewestChange;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.hold.StockChange.Cause;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.SqlArray;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * What has changed since the last look, according to each pool's audit trail: every sale, release,
 * expiry and return is one of its rows. Its sequence numbers are assigned under the pool's lock,
 * which is held until COMMIT, and have no gaps. So a transaction that commits late has a late
 * number, and no clock is involved. Uses the caller's connection.
 */
final class Changes {
  /** For a pool never looked at; older changes are left to the sweep. */
  private static final long MAX_BEHIND = 100_000;

  private static final int POOLS_AT_ONCE = HoldRecords.MAX_ROWS;

  private static final Set<Cause> OF_GOODS =
      EnumSet.of(Cause.SOLD, Cause.RELEASED, Cause.EXPIRED, Cause.RETURNED);

  private static final String CHANGED_POOLS =
      """
      SELECT p.campaign, p.pool, p.seq, coalesce(m.seq, p.seq - least(p.seq, ?)) AS seen
      FROM unnest(?, ?, ?) AS p (campaign, pool, seq)
      JOIN lockstep_server.campaign c ON c.id = p.campaign
      LEFT JOIN lockstep_server.reconciliation_mark m
        ON m.campaign = p.campaign AND m.pool = p.pool
      WHERE p.seq IS DISTINCT FROM m.seq
      ORDER BY p.campaign, p.pool""";

  private static final String SAVE =
      """
      INSERT INTO lockstep_server.reconciliation_mark AS m (campaign, pool, seq) VALUES (?, ?, ?)
      ON CONFLICT (campaign, pool) DO UPDATE SET seq = excluded.seq""";

  private Changes() {}

  /**
   * A pool that has changed.
   *
   * @param seq its newest change
   * @param seen the newest change looked at; after a database crash it may be ahead
   */
  record ChangedPool(long campaign, long pool, long seq, long seen) {}

  /** Holds that changed, and the number of the last change read. */
  record ChangePage(long last, int rows, Set<UUID> holds) {}

  static List<ChangedPool> pools(Connection connection) throws SQLException {
    List<ChangedPool> changed = new ArrayList<>();
    ScopeId scope = new ScopeId(Long.MIN_VALUE);
    PoolId pool = new PoolId(Long.MIN_VALUE);
    List<NewestChange> page;
    do {
      page = HoldRecords.newestChanges(connection, scope, pool, POOLS_AT_ONCE);
      if (!page.isEmpty()) {
        changed.addAll(unseen(connection, page));
        scope = page.get(page.size() - 1).scope();
        pool = page.get(page.size() - 1).pool();
      }
    } while (page.size() == POOLS_AT_ONCE);
    return changed;
  }

  private static List<ChangedPool> unseen(Connection connection, List<NewestChange> newest)
      throws SQLException {
    return RoundTrip.list(
        connection,
        CHANGED_POOLS,
        row ->
            new ChangedPool(
                row.getLong("campaign"),
                row.getLong("pool"),
                row.getLong("seq"),
                row.getLong("seen")),
        MAX_BEHIND,
        SqlArray.bigints(newest.stream().map(one -> one.scope().value()).toList()),
        SqlArray.bigints(newest.stream().map(one -> one.pool().value()).toList()),
        SqlArray.bigints(newest.stream().map(NewestChange::seq).toList()));
  }

  static ChangePage next(Connection connection, ChangedPool pool, long after, int limit)
      throws SQLException {
    List<HoldChange> changes =
        HoldRecords.changes(
            connection, new ScopeId(pool.campaign()), new PoolId(pool.pool()), after, limit);
    Set<UUID> holds = new LinkedHashSet<>();
    long last = after;
    for (HoldChange change : changes) {
      last = change.seq();
      // Goods that are only held belong to nobody yet.
      if (OF_GOODS.contains(change.cause())) {
        holds.add(change.hold().value());
      }
    }
    return new ChangePage(last, changes.size(), holds);
  }

  static void save(Connection connection, ChangedPool pool, long seq) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(SAVE, pool.campaign(), pool.pool(), seq);
    trip.send();
  }
}
