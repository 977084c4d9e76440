package dev.lockstep.job;

import dev.lockstep.job.EditResult.Edited;
import dev.lockstep.job.EditResult.Gone;
import dev.lockstep.job.EditResult.OfSchedule;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Makes, replays and removes dead letters, on the caller's connection. The caller commits. */
final class DeadLetters {
  private static final String MAKE =
      """
      WITH gone AS (
      %s
      RETURNING j.*)
      INSERT INTO lockstep.job_dead
        (shard, id, queue, priority, due, kind, payload, lane, lane_limit, max_attempts, attempts,
         crashes, version, reason, died_at, planned)
      SELECT shard, id, queue, priority, due, kind, payload, lane, lane_limit, max_attempts,
             attempts + ?, crashes + ?, version + 1, ?, now(), coalesce(planned, due) FROM gone""";

  private static final String MAKE_ALL =
      make(
          """
          DELETE FROM lockstep.job j USING unnest(?, ?) AS x (shard, id)
          WHERE j.shard = x.shard AND j.id = x.id""");

  // Skips dead letters that another transaction is replaying or removing. Recorded attempts stay;
  // the job's own attempt count restarts, so it gets all its attempts again.
  private static final String REPLAY =
      """
      WITH chosen AS MATERIALIZED (
        SELECT j.shard, j.id FROM lockstep.job_dead j WHERE %s
        ORDER BY j.shard, j.id LIMIT ? FOR UPDATE SKIP LOCKED),
      back AS (
        DELETE FROM lockstep.job_dead d USING chosen c
        WHERE d.shard = c.shard AND d.id = c.id RETURNING d.*)
      INSERT INTO lockstep.job (shard, id, queue, priority, due, kind, payload, lane, lane_limit,
                                max_attempts, version, planned)
      SELECT shard, id, queue, priority, now(), kind, payload, lane, lane_limit, max_attempts,
             version + 1, coalesce(planned, due) FROM back
      RETURNING queue""";

  // Deletes the recorded attempts too. Skips ticks: without its tick a schedule never runs again,
  // although it shows a next time. Skips dead letters that are being replayed.
  private static final String REMOVE_DEAD =
      """
      WITH chosen AS MATERIALIZED (
        SELECT j.shard, j.id FROM lockstep.job_dead j
        WHERE j.died_at <= now() - ? * interval '1 millisecond' AND j.queue <> ?%s
        ORDER BY j.shard, j.id LIMIT ? FOR UPDATE SKIP LOCKED),
      gone AS (
        DELETE FROM lockstep.job_dead d USING chosen c
        WHERE d.shard = c.shard AND d.id = c.id RETURNING d.shard, d.id),
      forgotten AS (
        DELETE FROM lockstep.job_attempt a USING gone g WHERE a.shard = g.shard AND a.id = g.id)
      SELECT count(*) FROM gone""";

  private static final String LOCK_DEAD =
      """
      SELECT queue, kind, payload, version FROM lockstep.job_dead
      WHERE shard = ? AND id = ? FOR UPDATE""";

  private static final String DISCARD = "DELETE FROM lockstep.job_dead WHERE shard = ? AND id = ?";

  private final Connection connection;
  private final JobsConfig config;

  DeadLetters(Connection connection, JobsConfig config) {
    this.connection = connection;
    this.config = config;
  }

  /**
   * The statement that makes dead letters of live jobs. Its parameters are those of {@link #bind}.
   *
   * @param delete deletes the jobs from {@code lockstep.job j}, without RETURNING
   */
  static String make(String delete) {
    return MAKE.formatted(delete);
  }

  /**
   * The parameters of {@link #make}.
   *
   * @param delete the parameters of the delete
   * @param failed how many attempts to count now
   * @param crashes how many crashes to count now
   */
  static Object[] bind(Object[] delete, int failed, int crashes, String reason) {
    Object[] all = Arrays.copyOf(delete, delete.length + 3);
    all[delete.length] = failed;
    all[delete.length + 1] = crashes;
    all[delete.length + 2] = reason;
    return all;
  }

  /** Adds the statement that makes dead letters of jobs whose rows the caller has locked. */
  static void make(RoundTrip trip, List<JobId> jobs, int failed, int crashes, String reason) {
    trip.update(MAKE_ALL, bind(JobId.arrays(jobs), failed, crashes, reason));
  }

  /** Brings dead letters back; returns how many. */
  int replay(Optional<JobId> id, JobFilter filter, int limit) throws SQLException {
    List<Object> parameters = new ArrayList<>();
    id.ifPresent(
        one -> {
          parameters.add((short) one.shard());
          parameters.add(one.value());
        });
    parameters.addAll(filter.parameters());
    parameters.add(limit);
    String which = (id.isPresent() ? "j.shard = ? AND j.id = ?" : "true") + filter.sql();
    RoundTrip trip = new RoundTrip(connection);
    Rows<String> back =
        trip.query(REPLAY.formatted(which), row -> row.getString(1), parameters.toArray());
    trip.send();
    RoundTrip after = new RoundTrip(connection);
    back.list().stream().distinct().forEach(queue -> JobChanges.hint(after, config, queue));
    after.send();
    return back.list().size();
  }

  /** Removes old dead letters; returns how many. */
  int removeDead(JobFilter filter, Duration olderThan, int limit) throws SQLException {
    List<Object> parameters = new ArrayList<>();
    parameters.add(olderThan.toMillis());
    parameters.addAll(JobChanges.withoutTicks(filter));
    parameters.add(limit);
    RoundTrip trip = new RoundTrip(connection);
    Rows<Integer> removed =
        trip.query(REMOVE_DEAD.formatted(filter.sql()), row -> row.getInt(1), parameters.toArray());
    trip.send();
    return removed.list().get(0);
  }

  private record Dead(int version, Optional<ScheduleId> schedule) {
    static Dead read(ResultSet row) throws SQLException {
      return new Dead(
          row.getInt(4), Schedules.ofTick(row.getString(1), row.getString(2), row.getString(3)));
    }
  }

  EditResult discard(JobId id) throws SQLException {
    RoundTrip read = new RoundTrip(connection);
    Rows<Dead> rows = read.query(LOCK_DEAD, Dead::read, (short) id.shard(), id.value());
    read.send();
    if (rows.list().isEmpty()) {
      return new Gone();
    }
    Dead dead = rows.list().get(0);
    if (dead.schedule().isPresent()) {
      return new OfSchedule(dead.schedule().get());
    }
    RoundTrip write = new RoundTrip(connection);
    remove(write, id);
    write.send();
    return new Edited(dead.version() + 1);
  }

  /** Adds the delete of one dead letter and its attempts. */
  static void remove(RoundTrip trip, JobId id) {
    trip.update(DISCARD, (short) id.shard(), id.value());
    AttemptTable.forget(trip, id);
  }

  int countDead(JobFilter filter, int limit) throws SQLException {
    return JobQueries.count(
        connection, "true" + filter.sql(), "job_dead", filter.parameters(), limit);
  }
}
