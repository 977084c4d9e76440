package dev.lockstep.cron;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.job.Recurrence;
import dev.lockstep.job.Recurrence.Gap;
import dev.lockstep.job.Recurrence.Overlap;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The library's local times against a look at every minute, and with changes of clocks. */
class CronTimesTest {
  private static final LocalDateTime START = LocalDateTime.parse("2027-12-20T00:00:00");

  @Test
  void theTimesAreThoseOfEveryMinuteThatMatches() {
    check("0 9 * * *", t -> t.getHour() == 9 && t.getMinute() == 0);
    check("*/15 8-10 * * *", t -> t.getMinute() % 15 == 0 && t.getHour() >= 8 && t.getHour() <= 10);
    check(
        "30 2 1,29 2-3 *",
        t ->
            t.getMinute() == 30
                && t.getHour() == 2
                && (t.getDayOfMonth() == 1 || t.getDayOfMonth() == 29)
                && (t.getMonthValue() == 2 || t.getMonthValue() == 3));
    check(
        "0 0 * * 1-5",
        t ->
            t.getMinute() == 0
                && t.getHour() == 0
                && t.getDayOfWeek() != DayOfWeek.SATURDAY
                && t.getDayOfWeek() != DayOfWeek.SUNDAY);
    check(
        "0 12 * * 0",
        t -> t.getMinute() == 0 && t.getHour() == 12 && t.getDayOfWeek() == DayOfWeek.SUNDAY);
    check(
        "0 12 * * 7",
        t -> t.getMinute() == 0 && t.getHour() == 12 && t.getDayOfWeek() == DayOfWeek.SUNDAY);
    check(
        "0 12 13 * 5",
        t ->
            t.getMinute() == 0
                && t.getHour() == 12
                && (t.getDayOfMonth() == 13 || t.getDayOfWeek() == DayOfWeek.FRIDAY));
  }

  private static void check(String expression, Predicate<LocalDateTime> matches) {
    LocalDateTime end = START.plusDays(100);
    List<LocalDateTime> expected = new ArrayList<>();
    for (LocalDateTime t = START.plusMinutes(1); t.isBefore(end); t = t.plusMinutes(1)) {
      if (matches.test(t)) {
        expected.add(t);
      }
    }
    CronTimes times = CronTimes.parse(expression);
    List<LocalDateTime> found = new ArrayList<>();
    for (LocalDateTime t = times.next(START).orElseThrow();
        t.isBefore(end);
        t = times.next(t).orElseThrow()) {
      found.add(t);
    }
    assertThat(found).as(expression).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "0 9 * *",
        "0 9 * * * *",
        "60 9 * * *",
        "0 24 * * *",
        "a b c d e",
        "0 0 30 2 *",
        "0 0 31 4,6 *",
        "0 9 * * 8",
        "@never"
      })
  void whatIsNoExpressionIsRefused(String expression) {
    assertThatThrownBy(() -> CronTimes.parse(expression))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void anExpressionHasALimit() {
    String long200 = "0 9 * * " + "1,".repeat(95) + "2,";
    assertThatThrownBy(() -> CronTimes.parse(long200 + "3,4"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("200");
  }

  @Test
  void aTimeInTheGapRunsAfterItOrNotAndOneInTheOverlapOnceOrTwice() {
    CronTimes times = CronTimes.parse("30 2 * * *");
    ZoneId berlin = ZoneId.of("Europe/Berlin");
    Instant spring = Instant.parse("2027-03-27T12:00:00Z");
    Instant autumn = Instant.parse("2027-10-30T12:00:00Z");

    assertThat(new Recurrence(times, berlin, Gap.SKIP, Overlap.FIRST).preview(spring, 1))
        .containsExactly(Instant.parse("2027-03-29T00:30:00Z"));
    assertThat(new Recurrence(times, berlin, Gap.NEXT, Overlap.FIRST).preview(spring, 1))
        .containsExactly(Instant.parse("2027-03-28T01:00:00Z"));
    assertThat(new Recurrence(times, berlin, Gap.NEXT, Overlap.BOTH).preview(autumn, 2))
        .containsExactly(
            Instant.parse("2027-10-31T00:30:00Z"), Instant.parse("2027-10-31T01:30:00Z"));
    assertThat(new Recurrence(times, berlin, Gap.NEXT, Overlap.LAST).preview(autumn, 2))
        .containsExactly(
            Instant.parse("2027-10-31T01:30:00Z"), Instant.parse("2027-11-01T01:30:00Z"));
  }
}
