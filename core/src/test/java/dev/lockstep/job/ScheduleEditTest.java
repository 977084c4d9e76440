package dev.lockstep.job;

import static dev.lockstep.job.Specs.daily;
import static dev.lockstep.job.Specs.makeDue;
import static dev.lockstep.job.Specs.once;
import static dev.lockstep.job.Specs.yearly;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.job.EditResult.Edited;
import dev.lockstep.job.EditResult.Stale;
import dev.lockstep.job.Recurrence.CatchUp;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An edit runs what is due under the old content first; nothing is dropped, nothing comes twice.
 */
class ScheduleEditTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private static final String OLD = "\"old\"";
  private static final String NEW = "\"new\"";

  private static final Duration DAY = Duration.ofDays(1);
  private static final ZoneId EARLIEST = ZoneId.of("Pacific/Kiritimati");
  // Where a day begins 25 hours later.
  private static final ZoneId LATEST = ZoneId.of("Pacific/Niue");

  // A time of day that has been, and does not come again while a test runs.
  private final Instant due =
      Instant.now().minus(Duration.ofHours(2)).truncatedTo(ChronoUnit.MINUTES);
  private final String daily = daily(LocalTime.ofInstant(due, ZoneOffset.UTC), "UTC");

  @BeforeEach
  void empty() {
    database.execute("TRUNCATE lockstep.job_schedule");
  }

  private record Made(Instant due, String payload) {}

  @Test
  void aRenameRunsADueOneOffAsItWas() {
    Schedule schedule = create(once(due.plus(DAY)), CatchUp.LATEST, OLD);
    respell(schedule.id(), once(due));
    makeDue(database, schedule.id(), due);

    EditResult renamed =
        change(schedule.id(), new NewSchedule("b", once(due), job(OLD), CatchUp.LATEST));

    assertThat(renamed).isEqualTo(new Edited(2));
    assertThat(made()).containsExactly(new Made(due, OLD));
    Schedule after = schedules().find(schedule.id()).orElseThrow();
    assertThat(after.content().name()).isEqualTo("b");
    assertThat(after.nextAt()).isEmpty();
    assertThat(ticks()).isZero();
  }

  @Test
  void whatIsDueRunsWithTheOldPayloadAndWhatComesWithTheNew() {
    Schedule schedule = createDue(CatchUp.LATEST);

    change(schedule.id(), content(daily, CatchUp.LATEST, NEW));

    assertThat(made()).containsExactly(new Made(due, OLD));
    Schedule after = schedules().find(schedule.id()).orElseThrow();
    assertThat(after.content().job().payload()).isEqualTo(NEW);
    assertThat(after.nextAt()).contains(due.plus(DAY));
    assertThat(schedules().preview(schedule.id(), 1)).contains(List.of(due.plus(DAY)));
    assertThat(ticks()).isEqualTo(1);
  }

  @Test
  void aDeadTickThatIsBroughtBackAfterAnEditDoesNotMakeTheScheduleRunTwice() {
    Schedule schedule = createDue(CatchUp.LATEST);
    JobId tick = killTick();
    change(schedule.id(), content(daily, CatchUp.LATEST, NEW));
    assertThat(ticks()).isEqualTo(1);

    desk.transactor().run(c -> desk.jobs().replay(c, tick));
    try (Worker worker = start(ScheduleEditTest::noteDue)) {
      Await.until("it has run", () -> desk.jobs().find(tick).isEmpty());
      Await.until("so has the job", () -> made().isEmpty());
      assertThat(worker.health().problems()).isEmpty();
    }

    assertThat(noted()).containsExactly(due);
    assertThat(ticks()).as("one tick for the next run").isEqualTo(1);
  }

  /** As if it had failed too often. */
  private static JobId killTick() {
    return JobId.of(
        database
            .query(
                """
                WITH gone AS (
                  DELETE FROM lockstep.job WHERE queue = 'lockstep-schedules' RETURNING *)
                INSERT INTO lockstep.job_dead
                  (shard, id, queue, priority, due, kind, payload, max_attempts, attempts, crashes,
                   version, reason, died_at)
                SELECT shard, id, queue, priority, due, kind, payload, max_attempts, max_attempts,
                       crashes, version, 'Failed', now() FROM gone
                RETURNING id""",
                row -> row.getString(1))
            .get(0));
  }

  @ParameterizedTest
  @EnumSource
  void theOldCatchUpPolicySaysWhatIsDue(CatchUp policy) {
    Schedule schedule = create(daily, policy, OLD);
    makeDue(database, schedule.id(), due.minus(DAY.multipliedBy(2)));

    // To a policy under which other runs would be due.
    CatchUp other = policy == CatchUp.ALL ? CatchUp.NONE : CatchUp.ALL;
    change(schedule.id(), content(daily, other, NEW));

    List<Instant> expected =
        switch (policy) {
          case ALL -> List.of(due.minus(DAY.multipliedBy(2)), due.minus(DAY), due);
          case LATEST -> List.of(due);
          case NONE -> List.of();
        };
    assertThat(made()).extracting(Made::due).isEqualTo(expected);
    assertThat(made()).extracting(Made::payload).allMatch(OLD::equals);
    assertThat(schedules().find(schedule.id()).orElseThrow().nextAt()).contains(due.plus(DAY));
  }

  @Test
  void aDueLocalTimeDoesNotComeAgainInAnotherZone() {
    LocalDate day = LocalDate.now(EARLIEST);
    Instant midnight = day.atStartOfDay(EARLIEST).toInstant();
    Schedule schedule = create(daily(LocalTime.MIDNIGHT, EARLIEST.getId()), CatchUp.LATEST, OLD);
    makeDue(database, schedule.id(), midnight);

    change(schedule.id(), content(daily(LocalTime.MIDNIGHT, LATEST.getId()), CatchUp.LATEST, NEW));

    assertThat(made()).containsExactly(new Made(midnight, OLD));
    // The same midnight there is still to come, and belongs to the run that has been.
    assertThat(schedules().find(schedule.id()).orElseThrow().nextAt())
        .contains(nextMidnightBut(day));
  }

  private static Instant nextMidnightBut(LocalDate day) {
    LocalDate next = LocalDate.now(LATEST).plusDays(1);
    return (next.equals(day) ? next.plusDays(1) : next).atStartOfDay(LATEST).toInstant();
  }

  @Test
  void aDueBirthdayIsNotKeptTwiceWhenThePersonMoves() {
    LocalDate day = LocalDate.now(EARLIEST);
    Instant midnight = day.atStartOfDay(EARLIEST).toInstant();
    Schedule schedule = create(yearly(day, EARLIEST.getId()), CatchUp.LATEST, OLD);
    makeDue(database, schedule.id(), midnight);

    change(schedule.id(), content(yearly(day, LATEST.getId()), CatchUp.LATEST, NEW));

    assertThat(made()).containsExactly(new Made(midnight, OLD));
    Instant next = schedules().find(schedule.id()).orElseThrow().nextAt().orElseThrow();
    assertThat(next.atZone(LATEST).getYear()).isEqualTo(day.getYear() + 1);
  }

  @Test
  void aStaleEditRunsNothing() {
    Schedule schedule = createDue(CatchUp.ALL);
    NewSchedule other = content("every 60000", CatchUp.ALL, NEW);

    EditResult stale =
        desk.transactor().call(c -> schedules().change(c, schedule.id(), OptionalInt.of(7), other));

    assertThat(stale).isEqualTo(new Stale(1));
    assertThat(made()).isEmpty();
    assertThat(ticks()).isEqualTo(1);
  }

  @Test
  void whatAnEditRanTheTickDoesNotRunAgain() {
    Schedule schedule = createDue(CatchUp.ALL);
    change(schedule.id(), content(daily, CatchUp.ALL, NEW));

    try (Worker worker = start(desk::note)) {
      assertThat(worker).isNotNull();
      Await.until("what was due has run", () -> desk.live() == 1);
    }

    assertThat(desk.ran).containsExactly(OLD);
  }

  @Test
  void anEditInATransactionThatBeganBeforeTheLastRunsRepeatsNone() {
    Schedule schedule = create("every 50", CatchUp.ALL, OLD);
    NewSchedule same = content("every 50", CatchUp.ALL, NEW);
    try (Worker worker = start(ScheduleEditTest::noteDue)) {
      assertThat(worker).isNotNull();
      desk.transactor()
          .run(
              c -> {
                Sql.execute(c, "SELECT now()");
                awaitRuns(4);
                schedules().change(c, schedule.id(), OptionalInt.empty(), same);
              });
      awaitRuns(4);
    }
    // A worker that closes gives back what it has not begun, which may be any of the last.
    List<Instant> all = new ArrayList<>(noted());
    made().forEach(waiting -> all.add(waiting.due()));
    all.sort(null);
    assertThat(all).as("none twice").doesNotHaveDuplicates();
    assertThat(Duration.between(all.get(0), all.get(all.size() - 1)))
        .as("none left out")
        .isEqualTo(Duration.ofMillis(50).multipliedBy(all.size() - 1));
  }

  @Test
  void aScheduleThatCanNoLongerBeReadCanBeMended() {
    Schedule schedule = createDue(CatchUp.ALL);
    respell(schedule.id(), "in a zone that is no more");

    EditResult mended = change(schedule.id(), content(daily, CatchUp.ALL, NEW));

    assertThat(mended).isEqualTo(new Edited(2));
    assertThat(schedules().find(schedule.id()).orElseThrow().nextAt()).contains(due.plus(DAY));
  }

  @Test
  void aDeletedScheduleMakesNoMoreJobsNotEvenOfWhatIsDue() {
    Schedule schedule = createDue(CatchUp.ALL);

    desk.transactor().run(c -> schedules().delete(c, schedule.id(), OptionalInt.empty()));

    assertThat(desk.live()).isZero();
  }

  private Worker start(JobHandler<String> handler) {
    return desk.jobs()
        .worker(
            Desk.worker(1).withQueue(QueueConfig.of(Schedules.QUEUE, 1)),
            schedules().handlers(Handlers.none().on(Desk.KIND, handler)));
  }

  private static Outcome noteDue(String payload, JobContext job) {
    return Outcome.Done.writing(
        c -> Sql.execute(c, "INSERT INTO effect VALUES (?)", job.due().toString()));
  }

  private static List<Instant> noted() {
    return database.query(
        "SELECT name FROM effect ORDER BY name::timestamptz",
        row -> Instant.parse(row.getString(1)));
  }

  private static void awaitRuns(int more) {
    int before = noted().size();
    Await.until("it runs", () -> noted().size() >= before + more);
  }

  private Schedules schedules() {
    return desk.jobs().schedules(Specs::read);
  }

  private Schedule createDue(CatchUp catchUp) {
    Schedule schedule = create(daily, catchUp, OLD);
    makeDue(database, schedule.id(), due);
    return schedule;
  }

  private Schedule create(String spec, CatchUp catchUp, String payload) {
    return desk.transactor().call(c -> schedules().create(c, content(spec, catchUp, payload)));
  }

  private EditResult change(ScheduleId id, NewSchedule content) {
    return desk.transactor().call(c -> schedules().change(c, id, OptionalInt.of(1), content));
  }

  private static NewSchedule content(String spec, CatchUp catchUp, String payload) {
    return new NewSchedule("a", spec, job(payload), catchUp);
  }

  private static NewJob job(String payload) {
    return NewJob.of(Desk.QUEUE, Desk.KIND, payload);
  }

  private static void respell(ScheduleId id, String spec) {
    database.execute(
        "UPDATE lockstep.job_schedule SET spec = '%s' WHERE id = '%s'".formatted(spec, id));
  }

  private static List<Made> made() {
    return database.query(
        "SELECT due, payload FROM lockstep.job WHERE kind = ? ORDER BY due, id",
        row -> new Made(row.getTimestamp(1).toInstant(), row.getString(2)),
        Desk.KIND);
  }

  private static long ticks() {
    return database.queryLong("SELECT count(*) FROM lockstep.job WHERE queue = ?", Schedules.QUEUE);
  }
}
