package dev.lockstep.job;

import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.Year;
import java.util.Optional;

/**
 * Once a year, on a date: a birthday.
 *
 * @param leapDay when 29 February is due in a year that has none
 */
public record Yearly(MonthDay date, LocalTime time, LeapDay leapDay) implements LocalTimes {

  /** What stands for 29 February in a year that has none. */
  public enum LeapDay {
    FEB_28,
    MAR_1
  }

  @Override
  public Optional<LocalDateTime> next(LocalDateTime after) {
    LocalDateTime thisYear = in(after.getYear());
    if (thisYear.isAfter(after)) {
      return Optional.of(thisYear);
    }
    return after.getYear() >= Year.MAX_VALUE
        ? Optional.empty()
        : Optional.of(in(after.getYear() + 1));
  }

  /** The year: a birthday that is moved is not kept twice. */
  @Override
  public String period(LocalDateTime time) {
    return Integer.toString(time.getYear());
  }

  private LocalDateTime in(int year) {
    LocalDate day =
        date.isValidYear(year) || leapDay == LeapDay.FEB_28
            ? date.atYear(year)
            : LocalDate.of(year, 3, 1);
    return day.atTime(time);
  }
}
