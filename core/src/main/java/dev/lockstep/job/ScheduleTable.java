package dev.lockstep.job;

import dev.lockstep.sql.BoundedRows;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Runs the statements on {@code job_schedule}, on the caller's connection. */
final class ScheduleTable {
  private static final String INSERT =
      """
      INSERT INTO lockstep.job_schedule
        (shard, id, name, spec, queue, kind, payload, max_attempts, catch_up, done_until)
      VALUES (?, ?, ?, ?, ?, ?, ?::json, ?, ?, ?::timestamptz)""";

  private static final String UPDATE =
      """
      UPDATE lockstep.job_schedule
      SET name = ?, spec = ?, queue = ?, kind = ?, payload = ?::json, max_attempts = ?, catch_up = ?,
          version = ?
      WHERE shard = ? AND id = ?""";

  // An empty text stands for no value.
  private static final String SET_NEXT =
      """
      UPDATE lockstep.job_schedule
      SET done_until = ?::timestamptz, last_period = nullif(?, ''),
          next_at = nullif(?, '')::timestamptz, tick = nullif(?, '')::uuid
      WHERE shard = ? AND id = ?""";

  private static final String FIND =
      "SELECT %s FROM lockstep.job_schedule s WHERE s.shard = ? AND s.id = ?"
          .formatted(ScheduleRow.COLUMNS);

  private static final String PAGE =
      """
      SELECT x.* FROM generate_series(0, ? - 1) n
      CROSS JOIN LATERAL (
        SELECT %s FROM lockstep.job_schedule s
        WHERE s.shard = n AND s.id < ? ORDER BY s.id DESC LIMIT ?) x
      ORDER BY 1 DESC LIMIT ?"""
          .formatted(ScheduleRow.COLUMNS);

  private static final String FEW =
      BoundedRows.sql(PAGE, "octet_length(r.payload::text)", "r.id DESC");

  private static final String DELETE =
      "DELETE FROM lockstep.job_schedule WHERE shard = ? AND id = ?";

  // Skips schedules that are being edited: they may run again.
  private static final String REMOVE_ENDED =
      """
      WITH ended AS MATERIALIZED (
        SELECT shard, id FROM lockstep.job_schedule
        WHERE next_at IS NULL AND done_until < now() - ? * interval '1 second'
        ORDER BY shard, id LIMIT ? FOR UPDATE SKIP LOCKED)
      DELETE FROM lockstep.job_schedule s USING ended e WHERE s.shard = e.shard AND s.id = e.id""";

  private static final UUID LAST = new UUID(-1L, -1L);

  private final Connection connection;

  ScheduleTable(Connection connection) {
    this.connection = connection;
  }

  Instant now() throws SQLException {
    return RoundTrip.now(connection);
  }

  void insert(ScheduleId id, NewSchedule schedule, Instant now) throws SQLException {
    List<Object> parameters = new ArrayList<>();
    parameters.add((short) id.shard());
    parameters.add(id.value());
    parameters.addAll(content(schedule));
    parameters.add(text(now));
    send(INSERT, parameters);
  }

  void update(ScheduleId id, NewSchedule schedule, int version) throws SQLException {
    List<Object> parameters = new ArrayList<>(content(schedule));
    parameters.add(version);
    parameters.add((short) id.shard());
    parameters.add(id.value());
    send(UPDATE, parameters);
  }

  void setNext(
      ScheduleId id,
      Instant doneUntil,
      Optional<String> period,
      Optional<Instant> next,
      Optional<JobId> tick)
      throws SQLException {
    send(
        SET_NEXT,
        List.of(
            text(doneUntil),
            period.orElse(""),
            next.map(ScheduleTable::text).orElse(""),
            tick.map(JobId::toString).orElse(""),
            (short) id.shard(),
            id.value()));
  }

  void delete(ScheduleId id) throws SQLException {
    send(DELETE, List.of((short) id.shard(), id.value()));
  }

  int removeEnded(Duration age, int limit) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Object> rows = trip.update(REMOVE_ENDED, age.toSeconds(), limit);
    trip.send();
    return rows.changed();
  }

  Optional<ScheduleRow> find(ScheduleId id) throws SQLException {
    return read(FIND, id);
  }

  Optional<ScheduleRow> lock(ScheduleId id) throws SQLException {
    return read(FIND + " FOR UPDATE", id);
  }

  List<Schedule> list(int shards, Optional<ScheduleId> before, int limit, long maxBytes)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<ScheduleRow> rows =
        trip.query(
            FEW,
            ScheduleRow::read,
            shards,
            before.map(ScheduleId::value).orElse(LAST),
            limit,
            limit,
            maxBytes);
    trip.send();
    return rows.list().stream().map(ScheduleRow::schedule).toList();
  }

  private Optional<ScheduleRow> read(String sql, ScheduleId id) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<ScheduleRow> rows = trip.query(sql, ScheduleRow::read, (short) id.shard(), id.value());
    trip.send();
    return rows.list().stream().findFirst();
  }

  private void send(String sql, List<Object> parameters) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(sql, parameters.toArray());
    trip.send();
  }

  private static List<Object> content(NewSchedule schedule) {
    NewJob job = schedule.job();
    return List.of(
        schedule.name(),
        schedule.spec(),
        job.queue(),
        job.kind(),
        job.payload(),
        (short) job.maxAttempts(),
        (short) schedule.catchUp().code());
  }

  private static String text(Instant at) {
    return at.atOffset(ZoneOffset.UTC).toString();
  }
}
