package dev.lockstep.job;

import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.util.Optional;

/**
 * The local times at which something recurs, as a wall clock and calendar show them, in no
 * particular zone. {@link Yearly} is here; cron expressions come from the module {@code
 * lockstep-cron}. Immutable.
 */
@FunctionalInterface
public interface LocalTimes {

  /**
   * Returns the first time after this one; empty: never again. Depends on nothing but the argument.
   */
  Optional<LocalDateTime> next(LocalDateTime after);

  /** Once per year, on a date. */
  static Yearly yearly(MonthDay date, LocalTime time, Yearly.LeapDay leapDay) {
    return new Yearly(date, time, leapDay);
  }

  /**
   * Names the period that a run counts for, so that a changed schedule does not run it twice. The
   * default is the local time itself.
   */
  default String period(LocalDateTime time) {
    return time.toString();
  }
}
