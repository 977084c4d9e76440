package dev.lockstep.job;

import dev.lockstep.job.EditResult.Edited;
import dev.lockstep.job.EditResult.Gone;
import dev.lockstep.job.EditResult.OfSchedule;
import dev.lockstep.job.EditResult.Stale;
import dev.lockstep.shard.ShardCount;
import dev.lockstep.sql.LockOrder;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Edits, cancels and pauses jobs and queues, on the caller's connection. The caller commits. There
 * is no fence: every edit raises the job's version, so the result of a worker that runs the job is
 * refused.
 */
final class JobChanges {
  private static final String LOCK =
      """
      SELECT j.queue, j.priority, greatest(j.due, j.wait_until) <= now(), %s FROM lockstep.job j
      WHERE j.shard = ? AND j.id = ? FOR UPDATE"""
          .formatted(JobRow.COLUMNS);

  // A past time means at once. The job then keeps its place if that is earlier, so it does not fall
  // behind jobs of its lane that it was ahead of.
  private static final String MOVE =
      """
      UPDATE lockstep.job
      SET due = CASE WHEN x.at <= clock_timestamp() THEN least(due, x.at) ELSE x.at END,
          wait_until = NULL, planned = NULL, version = version + 1
      FROM (SELECT ?::timestamptz AS at) x
      WHERE shard = ? AND id = ?""";

  private static final String RUN_NOW =
      """
      UPDATE lockstep.job
      SET due = least(due, now()), planned = coalesce(planned, due), wait_until = NULL,
          version = version + 1
      WHERE shard = ? AND id = ?""";

  private static final String REPLACE_PAYLOAD =
      """
      UPDATE lockstep.job SET payload = ?::json, version = version + 1
      WHERE shard = ? AND id = ?""";

  private static final String DELETE = "DELETE FROM lockstep.job WHERE shard = ? AND id = ?";

  // Skips locked jobs: they are just ending or being edited.
  private static final String CANCEL_ALL =
      """
      WITH chosen AS MATERIALIZED (
        SELECT j.shard, j.id FROM lockstep.job j WHERE j.queue <> ?%s
        ORDER BY j.id LIMIT ? FOR UPDATE SKIP LOCKED)
      DELETE FROM lockstep.job d USING chosen c WHERE d.shard = c.shard AND d.id = c.id
      RETURNING d.shard, d.id, d.queue, d.unique_key""";

  private static final String DISCARD_ALL =
      """
      WITH chosen AS MATERIALIZED (
        SELECT j.shard, j.id FROM lockstep.job_dead j WHERE j.queue <> ?%s
        ORDER BY j.shard, j.id LIMIT ? FOR UPDATE SKIP LOCKED)
      DELETE FROM lockstep.job_dead d USING chosen c WHERE d.shard = c.shard AND d.id = c.id
      RETURNING d.shard, d.id, d.queue, NULL""";

  private static final String FORGET_ALL_ATTEMPTS =
      """
      DELETE FROM lockstep.job_attempt a USING unnest(?, ?) AS x (shard, id)
      WHERE a.shard = x.shard AND a.id = x.id""";

  private static final String SET_PAUSED =
      """
      INSERT INTO lockstep.job_queue (queue, paused) VALUES (?, ?)
      ON CONFLICT (queue) DO UPDATE SET paused = excluded.paused""";
  private static final String SET_RATE =
      """
      INSERT INTO lockstep.job_queue (queue, rate_limit) VALUES (?, nullif(?, 0))
      ON CONFLICT (queue) DO UPDATE SET rate_limit = excluded.rate_limit""";
  private static final String HINT = "SELECT pg_notify(?, ?)";

  private final Connection connection;
  private final JobsConfig config;
  private final JobIds ids;
  private final ShardCount shardCount;
  private final Consumer<Collection<JobId>> changed;

  /**
   * @param changed called with the live jobs that were changed, before the caller commits
   */
  JobChanges(
      Connection connection,
      JobsConfig config,
      JobIds ids,
      ShardCount shardCount,
      Consumer<Collection<JobId>> changed) {
    this.connection = connection;
    this.config = config;
    this.ids = ids;
    this.shardCount = shardCount;
    this.changed = changed;
  }

  /** Adds the statements of a change to a locked job. */
  @FunctionalInterface
  private interface Change {
    void addTo(RoundTrip trip, JobRow row);
  }

  EditResult runNow(JobId id, OptionalInt version) throws SQLException {
    return change(
        id,
        version,
        // Allowed for ticks too: a tick that runs early enqueues no jobs and schedules itself
        // again.
        row -> Optional.empty(),
        // A due job may be running; a new version would refuse its result for nothing.
        Locked::isDue,
        (trip, row) -> {
          trip.update(RUN_NOW, (short) id.shard(), id.value());
          hint(trip, row.queue());
        });
  }

  EditResult cancel(JobId id, OptionalInt version) throws SQLException {
    return changeUnlessTick(
        id,
        version,
        (trip, row) -> {
          trip.update(DELETE, (short) id.shard(), id.value());
          AttemptTable.forget(trip, id);
          ResultBatch.freeKey(trip, ids, row);
        });
  }

  /** Deletes a schedule's tick, live or dead. The caller has locked the schedule's row. */
  void endTick(JobId id) throws SQLException {
    shardCount.requireAgreed(connection);
    RoundTrip trip = new RoundTrip(connection);
    trip.update(DELETE, (short) id.shard(), id.value());
    DeadLetters.remove(trip, id);
    trip.send();
    changed.accept(List.of(id));
  }

  EditResult runAt(JobId id, OptionalInt version, Instant at) throws SQLException {
    return changeUnlessTick(
        id,
        version,
        (trip, row) -> {
          trip.update(MOVE, at.atOffset(ZoneOffset.UTC).toString(), (short) id.shard(), id.value());
          hint(trip, row.queue());
        });
  }

  EditResult payload(JobId id, OptionalInt version, String payload) throws SQLException {
    return changeUnlessTick(
        id,
        version,
        (trip, row) -> trip.update(REPLACE_PAYLOAD, payload, (short) id.shard(), id.value()));
  }

  private record Locked(JobRow row, boolean isDue) {
    static Locked read(ResultSet row) throws SQLException {
      return new Locked(
          JobRow.read(row, 3, row.getString(1), Priority.of(row.getInt(2))), row.getBoolean(3));
    }
  }

  private EditResult changeUnlessTick(JobId id, OptionalInt version, Change change)
      throws SQLException {
    return change(id, version, JobChanges::scheduleOf, locked -> false, change);
  }

  private static Optional<ScheduleId> scheduleOf(JobRow row) {
    return Schedules.ofTick(row.queue(), row.kind(), row.payload());
  }

  /**
   * @param owner the schedule, if only it may change the job
   * @param isSo whether there is nothing to change
   */
  private EditResult change(
      JobId id,
      OptionalInt version,
      Function<JobRow, Optional<ScheduleId>> owner,
      Predicate<Locked> isSo,
      Change change)
      throws SQLException {
    shardCount.requireAgreed(connection);
    RoundTrip read = new RoundTrip(connection);
    Rows<Locked> rows = read.query(LOCK, Locked::read, (short) id.shard(), id.value());
    read.send();
    if (rows.list().isEmpty()) {
      return new Gone();
    }
    JobRow row = rows.list().get(0).row();
    Optional<ScheduleId> schedule = owner.apply(row);
    if (schedule.isPresent()) {
      return new OfSchedule(schedule.get());
    }
    if (version.isPresent() && version.getAsInt() != row.version()) {
      return new Stale(row.version());
    }
    if (isSo.test(rows.list().get(0))) {
      return new Edited(row.version());
    }
    RoundTrip write = new RoundTrip(connection);
    change.addTo(write, row);
    write.send();
    changed.accept(List.of(id));
    return new Edited(row.version() + 1);
  }

  private record Deleted(JobId id, String queue, @Nullable String uniqueKey) {
    String key() {
      return Objects.requireNonNull(uniqueKey);
    }
  }

  /** Deletes live jobs, dead letters, or both, by state; returns how many. */
  int cancelAll(Optional<JobState> state, JobFilter filter, int limit) throws SQLException {
    shardCount.requireAgreed(connection);
    List<Deleted> gone = new ArrayList<>();
    if (meansLive(state)) {
      String sql = CANCEL_ALL.formatted(state.map(JobQueries::live).orElse("") + filter.sql());
      gone.addAll(delete(sql, filter, limit));
      changed.accept(gone.stream().map(Deleted::id).toList());
    }
    if (meansDead(state)) {
      gone.addAll(delete(DISCARD_ALL.formatted(filter.sql()), filter, limit - gone.size()));
    }
    RoundTrip after = new RoundTrip(connection);
    after.update(FORGET_ALL_ATTEMPTS, JobId.arrays(gone.stream().map(Deleted::id).toList()));
    // In the order in which batches claim keys, so that the two cannot deadlock.
    gone.stream()
        .filter(job -> job.uniqueKey() != null)
        .sorted(
            Comparator.comparingInt((Deleted job) -> ids.shardOf(job.queue(), job.key()))
                .thenComparing(Deleted::queue, LockOrder.TEXT)
                .thenComparing(Deleted::key, LockOrder.TEXT))
        .forEach(job -> ResultBatch.freeKey(after, ids, job.id(), job.queue(), job.key()));
    after.send();
    return gone.size();
  }

  private static boolean meansLive(Optional<JobState> state) {
    return state.isEmpty() || state.get() != JobState.DEAD;
  }

  private static boolean meansDead(Optional<JobState> state) {
    return state.isEmpty() || state.get() == JobState.DEAD;
  }

  private List<Deleted> delete(String sql, JobFilter filter, int limit) throws SQLException {
    List<Object> parameters = withoutTicks(filter);
    parameters.add(limit);
    return RoundTrip.list(
        connection,
        sql,
        row ->
            new Deleted(
                new JobId(row.getObject(2, UUID.class)), row.getString(3), row.getString(4)),
        parameters.toArray());
  }

  int countCancellable(Optional<JobState> state, JobFilter filter, int limit) throws SQLException {
    int count = 0;
    if (meansLive(state)) {
      String which = "j.queue <> ?" + state.map(JobQueries::live).orElse("") + filter.sql();
      count += JobQueries.count(connection, which, "job", withoutTicks(filter), limit);
    }
    if (meansDead(state)) {
      String which = "j.queue <> ?" + filter.sql();
      count += JobQueries.count(connection, which, "job_dead", withoutTicks(filter), limit);
    }
    return Math.min(limit, count);
  }

  /** The parameters of {@code queue <> ?} and the filter. */
  static List<Object> withoutTicks(JobFilter filter) {
    List<Object> parameters = new ArrayList<>();
    parameters.add(Schedules.QUEUE);
    parameters.addAll(filter.parameters());
    return parameters;
  }

  void setPaused(String queue, boolean paused) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(SET_PAUSED, queue, paused);
    hint(trip, queue);
    trip.send();
  }

  /** Sets the rate; 0 removes the limit. */
  void setRate(String queue, double perSecond) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(SET_RATE, queue, perSecond);
    hint(trip, queue);
    trip.send();
  }

  private void hint(RoundTrip trip, String queue) {
    hint(trip, config, queue);
  }

  /** Adds the notification that wakes a queue's workers and claimers. */
  static void hint(RoundTrip trip, JobsConfig config, String queue) {
    if (config.hints()) {
      trip.query(HINT, row -> true, JobsConfig.CHANNEL, queue);
    }
  }
}
