package dev.lockstep.job;

import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.Year;
import java.util.Optional;

/**
 * Once per year, on a date: a birthday.
 *
 * @param leapDay which day stands for 29 February in other years
 */
public record Yearly(MonthDay date, LocalTime time, LeapDay leapDay) implements LocalTimes {

  /** The day that stands for 29 February in other years. */
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

  /** The year, so that a moved birthday does not run twice. */
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
