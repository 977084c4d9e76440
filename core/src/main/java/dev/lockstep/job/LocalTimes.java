package dev.lockstep.job;

import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.util.Optional;

/**
 * Local times at which something recurs, as a calendar and a clock on the wall show them, in no
 * zone in particular. Cron expressions come from the module {@code lockstep-cron}; {@link Yearly}
 * is here. Immutable.
 */
@FunctionalInterface
public interface LocalTimes {

  /**
   * The first time after this one; empty: never again. Depends on nothing else: whatever a schedule
   * is asked from, its times are the same.
   */
  Optional<LocalDateTime> next(LocalDateTime after);

  /** Once a year, on a date. */
  static Yearly yearly(MonthDay date, LocalTime time, Yearly.LeapDay leapDay) {
    return new Yearly(date, time, leapDay);
  }

  /**
   * Names what a time is the run of, so that a schedule that is changed does not run it again: the
   * local time itself unless it says otherwise.
   */
  default String period(LocalDateTime time) {
    return time.toString();
  }
}
