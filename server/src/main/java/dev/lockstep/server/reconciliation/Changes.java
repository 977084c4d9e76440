package dev.lockstep.server.reconciliation;

import dev.lockstep.hold.StockChange.Cause;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.StoredEnum;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What has changed since the last look, by the audit trail of each pool: every sale, release,
 * expiry and return of goods is a row of it. Its sequence numbers are given out under the lock of
 * the pool, which is kept until COMMIT, and have no gap. So a transaction that commits late has a
 * late number, and no clock is asked. On the caller's connection.
 */
final class Changes {
  /** Of a pool that was never looked at: what is older is left to the sweep. */
  private static final long MAX_BEHIND = 100_000;

  private static final String CHANGED_POOLS =
      """
      SELECT p.scope, p.pool, p.audit_seq, coalesce(m.seq, p.audit_seq - least(p.audit_seq, ?)) AS seen
      FROM lockstep.pool p
      JOIN lockstep_server.campaign c ON c.id = p.scope
      LEFT JOIN lockstep_server.reconciliation_mark m ON m.campaign = p.scope AND m.pool = p.pool
      WHERE p.audit_seq IS DISTINCT FROM m.seq
      ORDER BY p.scope, p.pool""";

  // What is only held belongs to nobody yet.
  private static final String NEXT =
      StoredEnum.sql(
          """
      SELECT seq,
        CASE WHEN cause IN ({Cause.SOLD}, {Cause.RELEASED}, {Cause.EXPIRED}, {Cause.RETURNED})
          THEN hold END AS hold
      FROM lockstep.stock_audit
      WHERE scope = ? AND pool = ? AND seq > ? ORDER BY seq LIMIT ?""",
          Cause.class);

  private static final String SAVE =
      """
      INSERT INTO lockstep_server.reconciliation_mark AS m (campaign, pool, seq) VALUES (?, ?, ?)
      ON CONFLICT (campaign, pool) DO UPDATE SET seq = excluded.seq""";

  private Changes() {}

  /**
   * A pool that has changed.
   *
   * @param seq its newest change
   * @param seen the newest that was looked at; after a crash of the server it may be ahead
   */
  record ChangedPool(long campaign, long pool, long seq, long seen) {}

  /** Holds that something became of, and the number of the last change that was read. */
  record Portion(long last, int rows, Set<UUID> holds) {}

  static List<ChangedPool> pools(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<ChangedPool> pools =
        trip.query(
            CHANGED_POOLS,
            row ->
                new ChangedPool(
                    row.getLong("scope"),
                    row.getLong("pool"),
                    row.getLong("audit_seq"),
                    row.getLong("seen")),
            MAX_BEHIND);
    trip.send();
    return pools.list();
  }

  private record Change(long seq, @Nullable UUID hold) {}

  static Portion next(Connection connection, ChangedPool pool, long after, int limit)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Change> rows =
        trip.query(
            NEXT,
            row -> new Change(row.getLong(1), row.getObject(2, UUID.class)),
            pool.campaign(),
            pool.pool(),
            after,
            limit);
    trip.send();
    Set<UUID> holds = new LinkedHashSet<>();
    long last = after;
    for (Change change : rows.list()) {
      last = change.seq();
      UUID hold = change.hold();
      if (hold != null) {
        holds.add(hold);
      }
    }
    return new Portion(last, rows.list().size(), holds);
  }

  static void save(Connection connection, ChangedPool pool, long seq) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(SAVE, pool.campaign(), pool.pool(), seq);
    trip.send();
  }
}
