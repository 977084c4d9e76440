package dev.lockstep.job;

import dev.lockstep.job.Recurrence.CatchUp;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A schedule's row.
 *
 * @param now the database's time when it was read
 */
record ScheduleRow(
    Schedule schedule,
    Instant doneUntil,
    @Nullable String lastPeriod,
    Optional<JobId> tick,
    Instant now) {

  /** Columns of {@code job_schedule s} in the order {@link #read} expects. */
  static final String COLUMNS =
      """
      s.id, s.name, s.spec, s.queue, s.kind, s.payload, s.max_attempts, s.catch_up, s.next_at,
      s.version, s.done_until, s.last_period, s.tick, now()""";

  static ScheduleRow read(ResultSet row) throws SQLException {
    NewSchedule content =
        new NewSchedule(
            row.getString(2),
            row.getString(3),
            NewJob.of(row.getString(4), row.getString(5), row.getString(6))
                .withMaxAttempts(row.getInt(7)),
            CatchUp.of(row.getInt(8)));
    return new ScheduleRow(
        new Schedule(
            new ScheduleId(row.getObject(1, UUID.class)), content, instant(row, 9), row.getInt(10)),
        instant(row, 11).orElseThrow(),
        row.getString(12),
        Optional.ofNullable(row.getObject(13, UUID.class)).map(JobId::new),
        instant(row, 14).orElseThrow());
  }

  private static Optional<Instant> instant(ResultSet row, int column) throws SQLException {
    return Optional.ofNullable(row.getObject(column, OffsetDateTime.class))
        .map(OffsetDateTime::toInstant);
  }
}
