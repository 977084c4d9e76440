package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.job.Recurrence.CatchUp;
import dev.lockstep.job.Recurrence.Due;
import dev.lockstep.job.Recurrence.Gap;
import dev.lockstep.job.Recurrence.Occurrence;
import dev.lockstep.job.Recurrence.Overlap;
import dev.lockstep.job.Yearly.LeapDay;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Every zone of the tz database, over the changes of its clocks, against counting minutes. */
class RecurrenceTest {
  private static final Instant FROM = Instant.parse("2023-01-01T00:00:00Z");
  private static final Instant TO = Instant.parse("2028-01-01T00:00:00Z");
  private static final Duration AROUND = Duration.ofHours(30);

  @Test
  void everyChangeOfClocksInEveryZoneIsAsCountingMinutesSays() {
    int changes = 0;
    // Many names are of the same clocks.
    Map<ZoneRules, String> zones = new HashMap<>();
    ZoneId.getAvailableZoneIds().forEach(id -> zones.put(ZoneId.of(id).getRules(), id));
    for (String id : zones.values()) {
      ZoneId zone = ZoneId.of(id);
      for (Instant change : changes(zone)) {
        changes++;
        WallClock wall = new WallClock(zone, change);
        for (LocalTime time : timesAround(zone, change)) {
          for (Gap gap : Gap.values()) {
            for (Overlap overlap : Overlap.values()) {
              Recurrence daily = new Recurrence(daily(time), zone, gap, overlap);
              assertThat(between(daily, change.minus(AROUND), change.plus(AROUND)))
                  .as("%s %s %s %s at %s", id, time, gap, overlap, change)
                  .isEqualTo(wall.runs(time, gap, overlap));
            }
          }
        }
      }
    }
    assertThat(changes).as("changes of clocks seen").isGreaterThan(200);
  }

  @Test
  void manyTimesInOneGapAreOneRunAndNoInstantComesTwice() {
    ZoneId berlin = ZoneId.of("Europe/Berlin");
    LocalTimes everyTenMinutes =
        after ->
            Optional.of(
                after
                    .truncatedTo(ChronoUnit.HOURS)
                    .plusMinutes(10L * (after.getMinute() / 10 + 1)));

    List<Instant> spring =
        new Recurrence(everyTenMinutes, berlin, Gap.NEXT, Overlap.BOTH)
            .preview(Instant.parse("2027-03-28T00:35:00Z"), 4);
    List<Instant> autumn =
        new Recurrence(everyTenMinutes, berlin, Gap.NEXT, Overlap.BOTH)
            .preview(Instant.parse("2027-10-31T00:00:00Z"), 12);

    assertThat(spring)
        .containsExactly(
            Instant.parse("2027-03-28T00:40:00Z"),
            Instant.parse("2027-03-28T00:50:00Z"),
            Instant.parse("2027-03-28T01:00:00Z"),
            Instant.parse("2027-03-28T01:10:00Z"));
    assertThat(autumn).isSorted().doesNotHaveDuplicates();
    assertThat(autumn.get(11)).isEqualTo(Instant.parse("2027-10-31T02:00:00Z"));
  }

  @Test
  void aBirthdayOnALeapDayIsKeptOnTheDayThatWasChosen() {
    ZoneId tokyo = ZoneId.of("Asia/Tokyo");
    Instant after = Instant.parse("2026-01-01T00:00:00Z");

    assertThat(yearly("--02-29", LeapDay.FEB_28, tokyo).preview(after, 4))
        .containsExactly(
            Instant.parse("2026-02-28T00:00:00Z"),
            Instant.parse("2027-02-28T00:00:00Z"),
            Instant.parse("2028-02-29T00:00:00Z"),
            Instant.parse("2029-02-28T00:00:00Z"));
    assertThat(yearly("--02-29", LeapDay.MAR_1, tokyo).preview(after, 3))
        .containsExactly(
            Instant.parse("2026-03-01T00:00:00Z"),
            Instant.parse("2027-03-01T00:00:00Z"),
            Instant.parse("2028-02-29T00:00:00Z"));
  }

  @Test
  void aDayThatAZoneLeftOutIsAGapToo() {
    // Samoa went from 29 to 31 December 2011.
    ZoneId apia = ZoneId.of("Pacific/Apia");
    Yearly birthday = new Yearly(MonthDay.of(12, 30), LocalTime.of(9, 0), LeapDay.FEB_28);
    Instant after = Instant.parse("2011-06-01T00:00:00Z");

    assertThat(new Recurrence(birthday, apia, Gap.NEXT, Overlap.FIRST).next(after))
        .contains(
            new Occurrence(
                LocalDateTime.parse("2011-12-30T09:00"), Instant.parse("2011-12-30T10:00:00Z")));
    assertThat(
            new Recurrence(birthday, apia, Gap.SKIP, Overlap.FIRST)
                .next(after)
                .orElseThrow()
                .local())
        .isEqualTo(LocalDateTime.parse("2012-12-30T09:00"));
  }

  @Test
  void whatWasMissedIsCaughtUpAsChosen() {
    Recurrence daily =
        new Recurrence(daily(LocalTime.of(9, 0)), ZoneId.of("UTC"), Gap.SKIP, Overlap.FIRST);
    Instant last = Instant.parse("2026-01-01T09:00:00Z");
    Instant now = Instant.parse("2026-01-05T08:59:00Z");
    Instant next = Instant.parse("2026-01-05T09:00:00Z");

    assertThat(instants(daily.due(last, now, CatchUp.ALL, 100)))
        .containsExactly(
            Instant.parse("2026-01-02T09:00:00Z"),
            Instant.parse("2026-01-03T09:00:00Z"),
            Instant.parse("2026-01-04T09:00:00Z"));
    assertThat(instants(daily.due(last, now, CatchUp.ALL, 2)))
        .as("the last of them, when they are too many")
        .containsExactly(
            Instant.parse("2026-01-03T09:00:00Z"), Instant.parse("2026-01-04T09:00:00Z"));
    assertThat(instants(daily.due(last, now, CatchUp.LATEST, 100)))
        .containsExactly(Instant.parse("2026-01-04T09:00:00Z"));
    assertThat(instants(daily.due(last, now, CatchUp.NONE, 100))).isEmpty();
    assertThat(daily.due(last, now, CatchUp.NONE, 100).next().orElseThrow().at()).isEqualTo(next);
    assertThat(instants(daily.due(last, next, CatchUp.LATEST, 1)))
        .as("due now")
        .containsExactly(next);
  }

  @Test
  void aRecurrenceWithoutAnotherTimeSaysSo() {
    Recurrence never =
        new Recurrence(
            after -> Optional.empty(), ZoneId.of("Europe/Berlin"), Gap.NEXT, Overlap.FIRST);

    assertThat(never.next(FROM)).isEmpty();
    assertThat(never.preview(FROM, 10)).isEmpty();
  }

  @Test
  void aPreviewHasALimit() {
    Recurrence daily =
        new Recurrence(daily(LocalTime.NOON), ZoneId.of("UTC"), Gap.SKIP, Overlap.FIRST);

    assertThat(daily.preview(FROM, Recurrence.MAX_PREVIEW)).hasSize(Recurrence.MAX_PREVIEW);
    assertThatThrownBy(() -> daily.preview(FROM, Recurrence.MAX_PREVIEW + 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static Recurrence yearly(String date, LeapDay leapDay, ZoneId zone) {
    return new Recurrence(
        new Yearly(MonthDay.parse(date), LocalTime.of(9, 0), leapDay),
        zone,
        Gap.NEXT,
        Overlap.FIRST);
  }

  private static LocalTimes daily(LocalTime time) {
    return after -> {
      LocalDateTime today = after.toLocalDate().atTime(time);
      return Optional.of(today.isAfter(after) ? today : today.plusDays(1));
    };
  }

  private static List<Instant> instants(Due due) {
    return due.run().stream().map(Occurrence::at).toList();
  }

  private static List<Instant> between(Recurrence recurrence, Instant after, Instant until) {
    List<Instant> found = new ArrayList<>();
    Optional<Occurrence> next = recurrence.next(after);
    while (next.isPresent() && !next.get().at().isAfter(until)) {
      found.add(next.get().at());
      next = recurrence.next(next.get().at());
    }
    return found;
  }

  /** When the offset changes, found by halving. */
  private static List<Instant> changes(ZoneId zone) {
    List<Instant> changes = new ArrayList<>();
    Instant at = FROM;
    while (at.isBefore(TO)) {
      Instant later = at.plus(Duration.ofDays(1));
      if (!offset(zone, at).equals(offset(zone, later))) {
        changes.add(firstWith(zone, at, later));
      }
      at = later;
    }
    return changes;
  }

  private static Instant firstWith(ZoneId zone, Instant before, Instant after) {
    long low = before.getEpochSecond();
    long high = after.getEpochSecond();
    while (high - low > 1) {
      long middle = (low + high) / 2;
      if (offset(zone, Instant.ofEpochSecond(middle)).equals(offset(zone, before))) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return Instant.ofEpochSecond(high);
  }

  private static Object offset(ZoneId zone, Instant at) {
    return at.atZone(zone).getOffset();
  }

  /** Before, within, at the edges of and after the hour that is missing or comes twice. */
  private static Set<LocalTime> timesAround(ZoneId zone, Instant change) {
    Set<LocalTime> times = new TreeSet<>();
    LocalTime before = change.minusSeconds(60).atZone(zone).toLocalTime();
    LocalTime after = change.atZone(zone).toLocalTime();
    for (LocalTime edge : List.of(before, after)) {
      times.add(edge.truncatedTo(ChronoUnit.MINUTES));
      times.add(edge.plusMinutes(17).truncatedTo(ChronoUnit.MINUTES));
      times.add(edge.minusMinutes(17).truncatedTo(ChronoUnit.MINUTES));
    }
    return times;
  }

  /** A clock on a wall of the zone, looked at once a minute; it knows nothing of transitions. */
  private static final class WallClock {
    private static final int DAYS = 3;

    private final Instant change;
    private final LocalDate day;
    private final long startMinute;
    // What it shows, in minutes since 1970 by its own count.
    private final long[] shows = new long[2 * DAYS * 24 * 60];
    private final Map<LocalDateTime, Seen> looks = new HashMap<>();

    WallClock(ZoneId zone, Instant change) {
      this.change = change;
      this.day = change.atZone(zone).toLocalDate();
      this.startMinute = change.getEpochSecond() / 60 - (long) DAYS * 24 * 60;
      for (int i = 0; i < shows.length; i++) {
        Instant at = Instant.ofEpochSecond(60 * (startMinute + i));
        shows[i] = at.atZone(zone).toLocalDateTime().toEpochSecond(ZoneOffset.UTC) / 60;
      }
    }

    /** When it shows a time, and when it first shows a later one. */
    private record Seen(List<Integer> shown, int firstLater) {}

    private Seen look(LocalDateTime time) {
      long wanted = time.toEpochSecond(ZoneOffset.UTC) / 60;
      List<Integer> shown = new ArrayList<>();
      int firstLater = -1;
      for (int i = 0; i < shows.length; i++) {
        if (shows[i] == wanted) {
          shown.add(i);
        } else if (shows[i] > wanted && firstLater < 0) {
          firstLater = i;
        }
      }
      return new Seen(shown, firstLater);
    }

    List<Instant> runs(LocalTime time, Gap gap, Overlap overlap) {
      TreeSet<Instant> runs = new TreeSet<>();
      for (int offset = -2; offset <= 2; offset++) {
        Seen seen = looks.computeIfAbsent(day.plusDays(offset).atTime(time), this::look);
        List<Integer> shown = seen.shown();
        if (shown.isEmpty()) {
          if (gap == Gap.NEXT) {
            runs.add(instant(seen.firstLater()));
          }
          continue;
        }
        if (overlap != Overlap.LAST) {
          runs.add(instant(shown.get(0)));
        }
        if (overlap != Overlap.FIRST) {
          runs.add(instant(shown.get(shown.size() - 1)));
        }
      }
      return runs.stream()
          .filter(at -> at.isAfter(change.minus(AROUND)) && !at.isAfter(change.plus(AROUND)))
          .toList();
    }

    private Instant instant(int i) {
      return Instant.ofEpochSecond(60 * (startMinute + i));
    }
  }
}
