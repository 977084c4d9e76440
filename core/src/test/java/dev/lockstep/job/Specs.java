package dev.lockstep.job;

import dev.lockstep.job.Recurrence.Gap;
import dev.lockstep.job.Recurrence.Overlap;
import dev.lockstep.job.Yearly.LeapDay;
import dev.lockstep.testkit.TestDatabase;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/** How schedules recur, in the words of these tests, and schedules whose time has passed. */
final class Specs {
  private Specs() {}

  static String yearly(LocalDate date, String zone) {
    return "yearly %s %s".formatted(MonthDay.from(date), zone);
  }

  static String daily(LocalTime time, String zone) {
    return "daily %s %s".formatted(time, zone);
  }

  static String once(Instant at) {
    return "once " + at;
  }

  /**
   * "every 100" (milliseconds), "daily 09:00 Asia/Tokyo", "yearly --06-01 Asia/Tokyo", "once
   * 2024-01-01T00:00:00Z", "never".
   */
  static Recurrence read(String spec) {
    String[] words = spec.split(" ", 3);
    return switch (words[0]) {
      case "every" -> in("UTC", every(Long.parseLong(words[1]) * 1_000_000));
      case "daily" -> in(words[2], daily(LocalTime.parse(words[1])));
      case "yearly" ->
          in(words[2], new Yearly(MonthDay.parse(words[1]), LocalTime.MIDNIGHT, LeapDay.FEB_28));
      case "once" -> {
        LocalDateTime at = LocalDateTime.ofInstant(Instant.parse(words[1]), ZoneOffset.UTC);
        yield in("UTC", after -> at.isAfter(after) ? Optional.of(at) : Optional.empty());
      }
      case "never" -> in("UTC", after -> Optional.empty());
      default -> throw new IllegalArgumentException("Not understood: " + spec);
    };
  }

  private static LocalTimes every(long nanos) {
    return after -> {
      LocalDateTime midnight = after.toLocalDate().atStartOfDay();
      long since = ChronoUnit.NANOS.between(midnight, after);
      return Optional.of(midnight.plusNanos((since / nanos + 1) * nanos));
    };
  }

  private static LocalTimes daily(LocalTime time) {
    return after -> {
      LocalDateTime today = after.toLocalDate().atTime(time);
      return Optional.of(today.isAfter(after) ? today : today.plusDays(1));
    };
  }

  private static Recurrence in(String zone, LocalTimes times) {
    return new Recurrence(times, ZoneId.of(zone), Gap.NEXT, Overlap.FIRST);
  }

  /** As if the schedule's next run had been then, and nothing had run since. */
  static void makeDue(TestDatabase database, ScheduleId schedule, Instant then) {
    database.execute(
        """
        UPDATE lockstep.job SET due = '%1$s'
        WHERE id = (SELECT tick FROM lockstep.job_schedule WHERE id = '%2$s');
        UPDATE lockstep.job_schedule
        SET next_at = '%1$s', done_until = '%1$s'::timestamptz - interval '1 second'
        WHERE id = '%2$s';
        """
            .formatted(then, schedule));
  }
}
