package dev.lockstep.job;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.UUID;

/** Reads jobs for people and tools, on the caller's connection. */
final class JobQueries {
  private static final String CLAIMED =
      """
      EXISTS (SELECT 1 FROM lockstep.job_claim c
              WHERE c.shard = j.shard AND c.id = j.id AND c.expires_at > now())\
      """;

  private static final String RUNNING = "(j.keeper IS NOT NULL OR " + CLAIMED + ")";

  private static final String LIVE =
      """
      SELECT j.id, j.queue, j.kind, j.payload, j.priority, j.lane,
             CASE WHEN j.keeper IS NOT NULL OR %s THEN 'RUNNING'
                  WHEN greatest(j.due, j.wait_until) <= now() THEN 'READY' ELSE 'SCHEDULED' END AS state,
             greatest(j.due, j.wait_until) AS due, j.attempts, j.max_attempts, j.version,
             NULL::timestamptz AS ended_at, NULL::text AS reason
      FROM lockstep.job j\
      """
          .formatted(CLAIMED);

  private static final String DEAD =
      """
      SELECT j.id, j.queue, j.kind, j.payload, j.priority, j.lane, 'DEAD' AS state, j.due, j.attempts,
             j.max_attempts, j.version, j.died_at AS ended_at, j.reason
      FROM lockstep.job_dead j\
      """;

  private static final String DONE =
      """
      SELECT j.id, j.queue, j.kind, j.payload, 1 AS priority, NULL::text AS lane, 'DONE' AS state, j.due,
             j.attempts, 0 AS max_attempts, 0 AS version, j.finished_at AS ended_at,
             NULL::text AS reason
      FROM lockstep.job_history j\
      """;

  private static final String BY_ID = " WHERE j.shard = ? AND j.id = ?";

  // Follows the primary key, so a page costs the same however many jobs there are. Keys that begin
  // with the shard are read per shard and merged.
  private static final String PAGE = "%s WHERE true%s AND j.id < ? ORDER BY j.id DESC LIMIT ?";
  private static final String PAGE_BY_SHARD =
      """
      SELECT x.* FROM generate_series(0, ? - 1) s
      CROSS JOIN LATERAL (%s WHERE j.shard = s%s AND j.id < ? ORDER BY j.id DESC LIMIT ?) x
      ORDER BY 1 DESC LIMIT ?\
      """;

  private static final String COUNT =
      "SELECT count(*) FROM (SELECT 1 FROM lockstep.%s j WHERE %s LIMIT ?) x";

  private static final String EXISTS = "SELECT 1 FROM lockstep.job WHERE shard = ? AND id = ?";

  private static final String ATTEMPTS =
      """
      SELECT attempt, at, error FROM lockstep.job_attempt
      WHERE shard = ? AND id = ? ORDER BY attempt\
      """;

  // Counts whole tables: for a console, now and then.
  private static final String QUEUES =
      """
      SELECT queue, bool_or(paused) AS paused, max(rate_limit) AS rate_limit,
             sum(scheduled) AS scheduled, sum(ready) AS ready, sum(running) AS running,
             sum(dead) AS dead, sum(done) AS done, min(oldest) AS oldest
      FROM (
        SELECT queue, paused, rate_limit, 0 AS scheduled, 0 AS ready, 0 AS running, 0 AS dead,
               0 AS done, NULL::timestamptz AS oldest
        FROM lockstep.job_queue
        UNION ALL
        SELECT queue, false, NULL,
               count(*) FILTER (WHERE NOT running AND at > now()),
               count(*) FILTER (WHERE NOT running AND at <= now()),
               count(*) FILTER (WHERE running), 0, 0,
               min(at) FILTER (WHERE NOT running AND at <= now())
        FROM (SELECT j.queue, greatest(j.due, j.wait_until) AS at,
                     j.keeper IS NOT NULL OR c.id IS NOT NULL AS running
              FROM lockstep.job j
              LEFT JOIN lockstep.job_claim c
                ON c.shard = j.shard AND c.id = j.id AND c.expires_at > now()) live
        GROUP BY queue
        UNION ALL
        SELECT queue, false, NULL, 0, 0, 0, count(*), 0, NULL FROM lockstep.job_dead GROUP BY queue
        UNION ALL
        SELECT queue, false, NULL, 0, 0, 0, 0, count(*), NULL FROM lockstep.job_history
        WHERE finished_at > now() - interval '1 minute' GROUP BY queue) q
      GROUP BY queue ORDER BY queue\
      """;

  private static final UUID LAST = new UUID(-1L, -1L);

  private JobQueries() {}

  static boolean exists(Connection connection, JobId id) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Boolean> rows = trip.query(EXISTS, row -> true, (short) id.shard(), id.value());
    trip.send();
    return !rows.list().isEmpty();
  }

  static Optional<Job> find(Connection connection, JobId id) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    List<Rows<Job>> found = new ArrayList<>();
    for (String table : List.of(LIVE, DEAD, DONE)) {
      found.add(trip.query(table + BY_ID, JobQueries::job, (short) id.shard(), id.value()));
    }
    trip.send();
    return found.stream().flatMap(rows -> rows.list().stream()).findFirst();
  }

  static List<Job.Attempt> attempts(Connection connection, JobId id) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Job.Attempt> rows =
        trip.query(
            ATTEMPTS,
            row ->
                new Job.Attempt(
                    row.getInt("attempt"),
                    instant(row, "at").orElseThrow(),
                    row.getString("error")),
            (short) id.shard(),
            id.value());
    trip.send();
    return rows.list();
  }

  static List<Job> list(
      Connection connection,
      int shards,
      Optional<JobState> state,
      JobFilter filter,
      Optional<JobId> before,
      int limit,
      boolean withPayload)
      throws SQLException {
    List<Object> page = new ArrayList<>(filter.parameters());
    page.add(before.map(JobId::value).orElse(LAST));
    page.add(limit);
    List<Object> pageByShard = new ArrayList<>(page);
    pageByShard.add(0, shards);
    pageByShard.add(limit);
    RoundTrip trip = new RoundTrip(connection);
    List<Rows<Job>> found = new ArrayList<>();
    if (state.isEmpty() || isLive(state.get())) {
      String only = state.map(JobQueries::live).orElse("") + filter.sql();
      String sql = PAGE.formatted(columns(LIVE, withPayload), only);
      found.add(trip.query(sql, JobQueries::job, page.toArray()));
    }
    for (String table : ended(state)) {
      found.add(
          trip.query(
              PAGE_BY_SHARD.formatted(columns(table, withPayload), filter.sql()),
              JobQueries::job,
              pageByShard.toArray()));
    }
    trip.send();
    return found.stream()
        .flatMap(rows -> rows.list().stream())
        .sorted(Comparator.comparing(Job::id).reversed())
        .limit(limit)
        .toList();
  }

  private static String columns(String table, boolean withPayload) {
    return withPayload ? table : table.replace("j.payload", "'null'::json AS payload");
  }

  /** Counts rows of a job table, up to a limit. */
  static int count(
      Connection connection, String condition, String table, List<Object> parameters, int limit)
      throws SQLException {
    List<Object> all = new ArrayList<>(parameters);
    all.add(limit);
    RoundTrip trip = new RoundTrip(connection);
    Rows<Integer> count =
        trip.query(COUNT.formatted(table, condition), row -> row.getInt(1), all.toArray());
    trip.send();
    return count.list().get(0);
  }

  private static boolean isLive(JobState state) {
    return state != JobState.DEAD && state != JobState.DONE;
  }

  /** The queries for ended jobs of this state. */
  private static List<String> ended(Optional<JobState> state) {
    return state.isEmpty()
        ? List.of(DEAD, DONE)
        : switch (state.get()) {
          case DEAD -> List.of(DEAD);
          case DONE -> List.of(DONE);
          case SCHEDULED, READY, RUNNING -> List.of();
        };
  }

  /** The condition for a live job {@code j} in this state. */
  static String live(JobState state) {
    return switch (state) {
      case SCHEDULED -> " AND NOT " + RUNNING + " AND greatest(j.due, j.wait_until) > now()";
      case READY -> " AND NOT " + RUNNING + " AND greatest(j.due, j.wait_until) <= now()";
      case RUNNING -> " AND " + RUNNING;
      case DEAD, DONE -> " AND false";
    };
  }

  static List<QueueView> queues(Connection connection) throws SQLException {
    return RoundTrip.list(connection, QUEUES, JobQueries::queue);
  }

  private static Job job(ResultSet row) throws SQLException {
    return new Job(
        new JobId(row.getObject("id", UUID.class)),
        row.getString("queue"),
        row.getString("kind"),
        row.getString("payload"),
        Priority.of(row.getInt("priority")),
        Optional.ofNullable(row.getString("lane")),
        JobState.valueOf(row.getString("state")),
        instant(row, "due").orElseThrow(),
        row.getInt("attempts"),
        row.getInt("max_attempts"),
        row.getInt("version"),
        instant(row, "ended_at"),
        Optional.ofNullable(row.getString("reason")));
  }

  private static QueueView queue(ResultSet row) throws SQLException {
    double rate = row.getDouble("rate_limit");
    OptionalDouble limit = row.wasNull() ? OptionalDouble.empty() : OptionalDouble.of(rate);
    return new QueueView(
        row.getString("queue"),
        row.getBoolean("paused"),
        limit,
        row.getLong("scheduled"),
        row.getLong("ready"),
        row.getLong("running"),
        row.getLong("dead"),
        row.getLong("done"),
        instant(row, "oldest"));
  }

  private static Optional<Instant> instant(ResultSet row, String column) throws SQLException {
    return Optional.ofNullable(row.getObject(column, OffsetDateTime.class))
        .map(OffsetDateTime::toInstant);
  }
}
