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

  /** Columns of {@code job_schedule s}. */
  static final String COLUMNS =
      """
      s.id, s.name, s.spec, s.queue, s.kind, s.payload, s.max_attempts, s.catch_up, s.next_at,
      s.version, s.done_until, s.last_period, s.tick, now() AS now""";

  static ScheduleRow read(ResultSet row) throws SQLException {
    NewSchedule content =
        new NewSchedule(
            row.getString("name"),
            row.getString("spec"),
            NewJob.of(row.getString("queue"), row.getString("kind"), row.getString("payload"))
                .withMaxAttempts(row.getInt("max_attempts")),
            CatchUp.of(row.getInt("catch_up")));
    return new ScheduleRow(
        new Schedule(
            new ScheduleId(row.getObject("id", UUID.class)),
            content,
            instant(row, "next_at"),
            row.getInt("version")),
        instant(row, "done_until").orElseThrow(),
        row.getString("last_period"),
        Optional.ofNullable(row.getObject("tick", UUID.class)).map(JobId::new),
        instant(row, "now").orElseThrow());
  }

  private static Optional<Instant> instant(ResultSet row, String column) throws SQLException {
    return Optional.ofNullable(row.getObject(column, OffsetDateTime.class))
        .map(OffsetDateTime::toInstant);
  }
}
