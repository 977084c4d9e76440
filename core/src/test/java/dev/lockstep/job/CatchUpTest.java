package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.job.Recurrence.CatchUp;
import dev.lockstep.job.Recurrence.Due;
import dev.lockstep.job.Recurrence.Gap;
import dev.lockstep.job.Recurrence.Occurrence;
import dev.lockstep.job.Recurrence.Overlap;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.Month;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** However long nothing ran, catching up is a bounded piece of work and leaves nothing out. */
class CatchUpTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private static final Instant NOW = Instant.parse("2026-12-30T23:59:30Z");
  private static final Instant A_YEAR_AGO = Instant.parse("2026-01-01T00:00:00Z");
  // Of half a million.
  private static final int FEW_STEPS = 30_000;

  private final AtomicInteger steps = new AtomicInteger();

  @Test
  void aYearOfMinutesIsAFewThousandStepsWhateverThePolicy() {
    Recurrence minutes = in("UTC", CatchUpTest::nextMinute);
    for (CatchUp policy : CatchUp.values()) {
      steps.set(0);
      Due due = minutes.due(A_YEAR_AGO, NOW, policy, 1_000);

      assertThat(steps).as(policy.name()).hasValueLessThan(FEW_STEPS);
      assertThat(due.next().orElseThrow().at()).isEqualTo(Instant.parse("2026-12-31T00:00:00Z"));
      List<Instant> run = due.run().stream().map(Occurrence::at).toList();
      assertThat(run)
          .isEqualTo(
              lastMinutes(
                  switch (policy) {
                    case ALL -> 1_000;
                    case LATEST -> 1;
                    case NONE -> 0;
                  }));
    }
  }

  private static List<Instant> lastMinutes(int count) {
    Instant last = NOW.truncatedTo(ChronoUnit.MINUTES);
    return Stream.iterate(
            last.minus(Duration.ofMinutes(count - 1)), at -> at.plus(Duration.ofMinutes(1)))
        .limit(count)
        .toList();
  }

  @Test
  void theLastOnesAreFoundWhereverTheyLie() {
    LocalTimes inJanuary =
        after -> {
          LocalDateTime next = nextMinute(after).orElseThrow();
          return Optional.of(
              next.getMonth() == Month.JANUARY
                  ? next
                  : LocalDateTime.of(next.getYear() + 1, 1, 1, 0, 0));
        };
    Random random = new Random(26);
    TreeSet<LocalDateTime> clusters = new TreeSet<>();
    for (int i = 0; i < 40; i++) {
      LocalDateTime start =
          LocalDateTime.ofInstant(A_YEAR_AGO, ZoneOffset.UTC).plusMinutes(random.nextInt(520_000));
      for (int j = random.nextInt(2_000); j >= 0; j--) {
        start = start.plusNanos(1 + random.nextInt(1_000_000_000));
        clusters.add(start);
      }
    }
    for (String zone : List.of("UTC", "America/New_York", "Australia/Lord_Howe")) {
      for (LocalTimes times :
          List.<LocalTimes>of(
              CatchUpTest::nextMinute,
              inJanuary,
              after -> Optional.ofNullable(clusters.higher(after)))) {
        for (int limit : List.of(1, 7, 1_000)) {
          assertSameAsWalking(in(zone, times), limit);
        }
      }
    }
  }

  private void assertSameAsWalking(Recurrence recurrence, int limit) {
    List<Occurrence> all = new ArrayList<>();
    Optional<Occurrence> next = recurrence.next(A_YEAR_AGO);
    while (next.isPresent() && !next.get().at().isAfter(NOW)) {
      all.add(next.get());
      next = recurrence.next(next.get().at());
    }
    steps.set(0);
    Due due = recurrence.due(A_YEAR_AGO, NOW, CatchUp.ALL, limit);
    assertThat(due.run()).isEqualTo(all.subList(Math.max(0, all.size() - limit), all.size()));
    assertThat(due.next()).isEqualTo(next);
    assertThat(steps).hasValueLessThan(2 * FEW_STEPS);
  }

  @Test
  void aYearOfMinutesIsCaughtUpInOneShortTransaction() {
    Schedules schedules = desk.jobs().schedules(spec -> in("UTC", CatchUpTest::nextMinute));
    NewSchedule content = new NewSchedule("minutes", "", Desk.job(1), CatchUp.ALL);
    Schedule schedule = desk.transactor().call(c -> schedules.create(c, content));
    Specs.makeDue(
        database,
        schedule.id(),
        Instant.now().truncatedTo(ChronoUnit.MINUTES).minus(Duration.ofDays(365)));
    steps.set(0);
    try (Worker worker =
        desk.jobs()
            .worker(
                WorkerConfig.named("test").withQueue(QueueConfig.of(Schedules.QUEUE, 1)),
                schedules.handlers(Handlers.none()))) {
      assertThat(worker).isNotNull();
      Await.until("it has caught up", () -> nextAt(schedules, schedule).isAfter(Instant.now()));
    }
    assertThat(steps).hasValueLessThan(FEW_STEPS);
    List<Instant> made =
        database.query(
            "SELECT due FROM lockstep.job WHERE kind = ? ORDER BY id",
            row -> row.getTimestamp(1).toInstant(),
            Desk.KIND);
    // Another minute may have begun meanwhile.
    assertThat(made).hasSizeBetween(1_000, 1_001).doesNotHaveDuplicates();
    assertThat(made.get(made.size() - 1))
        .isEqualTo(nextAt(schedules, schedule).minus(Duration.ofMinutes(1)));
  }

  private static Instant nextAt(Schedules schedules, Schedule schedule) {
    return schedules.find(schedule.id()).orElseThrow().nextAt().orElseThrow();
  }

  private Recurrence in(String zone, LocalTimes times) {
    LocalTimes counted =
        after -> {
          steps.incrementAndGet();
          return times.next(after);
        };
    return new Recurrence(counted, ZoneId.of(zone), Gap.NEXT, Overlap.FIRST);
  }

  private static Optional<LocalDateTime> nextMinute(LocalDateTime after) {
    return Optional.of(after.truncatedTo(ChronoUnit.MINUTES).plusMinutes(1));
  }
}
