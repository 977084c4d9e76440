package dev.lockstep.server.health;

import dev.lockstep.server.health.HealthReport.Counts;
import dev.lockstep.server.health.HealthReport.Replica;
import dev.lockstep.server.health.HealthReport.Session;
import dev.lockstep.server.health.HealthReport.Table;
import dev.lockstep.server.health.HealthReport.TransactionIds;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Reads PostgreSQL's statistics views in one round trip. */
final class HealthReader {
  private static final int MAX_SESSIONS = 500;
  private static final Duration PATIENCE = Duration.ofSeconds(3);

  // pg_blocking_pids locks the lock manager briefly, so it runs only for sessions that wait for a
  // lock.
  private static final String SESSIONS =
      """
      SELECT pid, coalesce(application_name, '') AS application, coalesce(state, 'unknown') AS state,
        extract(epoch FROM clock_timestamp() - xact_start)::float8 AS transaction_seconds,
        coalesce(extract(epoch FROM clock_timestamp() - greatest(state_change, query_start)), 0)::float8
          AS state_seconds,
        CASE WHEN wait_event_type = 'Lock' THEN pg_blocking_pids(pid) ELSE '{}'::int[] END
          AS blockers,
        left(coalesce(query, ''), 300) AS query
      FROM pg_stat_activity
      WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
      ORDER BY xact_start NULLS LAST, pid LIMIT ?""";

  // A partitioned table has no rows or transaction ids of its own; its partitions are listed.
  private static final String TABLES =
      """
      SELECT s.schemaname || '.' || s.relname AS name, s.n_live_tup, s.n_dead_tup,
        greatest(s.last_vacuum, s.last_autovacuum) AS vacuumed_at,
        age(c.relfrozenxid)::bigint AS age
      FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
      WHERE s.schemaname IN ('lockstep', 'lockstep_server', 'gateway')
        AND s.relname <> 'flyway_schema_history' AND c.relkind <> 'p'
      ORDER BY s.n_dead_tup DESC, 1""";

  // No lag in time: the replica is idle. No state: our role may not see more than that there is
  // one.
  private static final String REPLICAS =
      """
      SELECT coalesce(application_name, '') AS application, coalesce(state, 'unknown') AS state,
        CASE WHEN state IS NOT NULL
          THEN coalesce(extract(epoch FROM replay_lag), 0) END::float8 AS lag_seconds,
        CASE WHEN state IS NOT NULL
          THEN coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn), 0) END::bigint AS lag_bytes
      FROM pg_stat_replication ORDER BY 1""";

  private static final String IDS =
      """
      SELECT clock_timestamp(), max(age(datfrozenxid))::bigint,
        current_setting('autovacuum_freeze_max_age')::bigint
      FROM pg_database""";

  private static final String COUNTS =
      """
      SELECT deadlocks, blks_hit, blks_read FROM pg_stat_database
      WHERE datname = current_database()""";

  /** With fewer blocks, a hit share says nothing. */
  private static final long MIN_BLOCKS = 10_000;

  private final Transactor transactor;
  private final AttemptCounts attempts;
  private final Supplier<PoolUse> pool;
  private final Activity before;

  private record Activity(long deadlocks, long hits, long reads) {}

  private record Ids(Instant now, TransactionIds ids) {}

  /** Events before this moment are not counted. Blocks. */
  HealthReader(Transactor transactor, AttemptCounts attempts, Supplier<PoolUse> pool) {
    this.transactor = transactor;
    this.attempts = attempts;
    this.pool = pool;
    this.before =
        transactor.call(
            connection -> {
              RoundTrip trip = new RoundTrip(connection);
              Rows<Activity> activity = trip.query(COUNTS, HealthReader::activity);
              trip.send();
              return activity.list().get(0);
            });
  }

  /** Blocks, for three seconds at most. */
  HealthReport read() {
    TxOptions brief =
        transactor
            .defaults()
            .withLabel("database health")
            .asReadOnly()
            .withLockTimeout(PATIENCE)
            .withStatementTimeout(PATIENCE)
            .withDeadline(PATIENCE);
    return transactor.call(brief, this::look);
  }

  private HealthReport look(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Session> sessions = trip.query(SESSIONS, HealthReader::session, MAX_SESSIONS);
    Rows<Table> tables = trip.query(TABLES, HealthReader::table);
    Rows<Replica> replicas =
        trip.query(
            REPLICAS,
            row ->
                new Replica(
                    row.getString("application"),
                    row.getString("state"),
                    Optional.ofNullable(row.getObject("lag_seconds", Double.class)),
                    Optional.ofNullable(row.getObject("lag_bytes", Long.class))));
    Rows<Ids> ids = trip.query(IDS, HealthReader::ids);
    Rows<Activity> activity = trip.query(COUNTS, HealthReader::activity);
    trip.send();
    return new HealthReport(
        ids.list().get(0).now(),
        sessions.list(),
        tables.list(),
        replicas.list(),
        ids.list().get(0).ids(),
        counts(activity.list().get(0)),
        pool.get());
  }

  private Counts counts(Activity now) {
    long hits = now.hits() - before.hits();
    long reads = now.reads() - before.reads();
    double share = hits + reads < MIN_BLOCKS ? 1 : (double) hits / (hits + reads);
    return new Counts(
        // After a reset, the statistics restart at zero.
        Math.max(0, now.deadlocks() - before.deadlocks()),
        attempts.conflicts(),
        attempts.lockTimeouts(),
        attempts.all(),
        Math.min(1, Math.max(0, share)));
  }

  private static Session session(ResultSet row) throws SQLException {
    double transaction = row.getDouble("transaction_seconds");
    Optional<Double> seconds =
        row.wasNull() ? Optional.empty() : Optional.of(Math.max(0, transaction));
    Array blockers = row.getArray("blockers");
    return new Session(
        row.getInt("pid"),
        row.getString("application"),
        row.getString("state"),
        seconds,
        Math.max(0, row.getDouble("state_seconds")),
        List.of((Integer[]) blockers.getArray()),
        row.getString("query"));
  }

  private static Table table(ResultSet row) throws SQLException {
    return new Table(
        row.getString("name"),
        row.getLong("n_live_tup"),
        row.getLong("n_dead_tup"),
        Optional.ofNullable(row.getObject("vacuumed_at", OffsetDateTime.class))
            .map(OffsetDateTime::toInstant),
        row.getLong("age"));
  }

  private static Ids ids(ResultSet row) throws SQLException {
    return new Ids(
        row.getObject(1, OffsetDateTime.class).toInstant(),
        new TransactionIds(row.getLong(2), row.getLong(3)));
  }

  private static Activity activity(ResultSet row) throws SQLException {
    return new Activity(row.getLong(1), row.getLong(2), row.getLong(3));
  }
}
