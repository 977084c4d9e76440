package dev.lockstep.job;

import static dev.lockstep.job.Specs.makeDue;
import static dev.lockstep.job.Specs.yearly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.job.EditResult.Edited;
import dev.lockstep.job.EditResult.Gone;
import dev.lockstep.job.EditResult.Stale;
import dev.lockstep.job.Recurrence.CatchUp;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Each occurrence becomes one job, over all nodes, whatever is changed meanwhile. */
class SchedulesTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private final List<Worker> workers = new ArrayList<>();
  private final Queue<Instant> ran = new ConcurrentLinkedQueue<>();

  @BeforeEach
  void empty() {
    database.execute("TRUNCATE lockstep.job_schedule");
  }

  @AfterEach
  void close() {
    workers.forEach(Worker::close);
  }

  @Test
  void everyOccurrenceIsRunOnceOverAllNodes() {
    startNode();
    startNode();
    startNode();
    create("every 100", CatchUp.ALL);

    Await.until("some occurrences", () -> ran.size() >= 15);
    workers.forEach(Worker::close);

    List<Instant> made = new ArrayList<>(ran);
    made.addAll(waiting());
    List<Instant> expected = new ArrayList<>();
    Instant first = made.stream().min(Instant::compareTo).orElseThrow();
    for (int i = 0; i < made.size(); i++) {
      expected.add(first.plusMillis(100L * i));
    }
    assertThat(made).as("none twice, none left out").containsExactlyInAnyOrderElementsOf(expected);
  }

  @Test
  void aYearlyRunThatHasBeenIsNotRunAgainWhenTheDateOrZoneIsChanged() {
    LocalDate today = LocalDate.now(ZoneOffset.UTC);
    Schedule schedule = create(yearly(today, "UTC"), CatchUp.LATEST);
    makeDue(database, schedule.id(), today.atStartOfDay().toInstant(ZoneOffset.UTC));
    startNode();
    Await.until("this year's run", () -> ran.size() == 1);
    workers.forEach(Worker::close);

    change(schedule.id(), 1, yearly(today.plusDays(2), "UTC"));
    assertThat(nextYear(schedule.id())).isGreaterThan(today.getYear());
    change(schedule.id(), 2, yearly(today, "Pacific/Honolulu"));
    assertThat(nextYear(schedule.id())).isGreaterThan(today.getYear());
    assertThat(ticks()).isEqualTo(1);
  }

  @Test
  void aChangeMovesTheNextRun() {
    Schedule schedule = create(yearly(LocalDate.of(2024, 6, 1), "Asia/Tokyo"), CatchUp.LATEST);

    change(schedule.id(), 1, yearly(LocalDate.of(2024, 6, 2), "Europe/Berlin"));

    Schedule changed = schedules().find(schedule.id()).orElseThrow();
    assertThat(changed.version()).isEqualTo(2);
    assertThat(changed.nextAt().orElseThrow().atZone(ZoneId.of("Europe/Berlin")).toLocalTime())
        .isEqualTo(LocalTime.of(0, 0));
    assertThat(schedules().preview(schedule.id(), 2).orElseThrow())
        .hasSize(2)
        .startsWith(changed.nextAt().orElseThrow());
    assertThat(ticks()).isEqualTo(1);
  }

  @Test
  void aStaleEditIsRefusedWithTheCurrentVersion() throws Exception {
    Schedule schedule = create("every 60000", CatchUp.NONE);

    List<EditResult> results =
        Race.<EditResult>of(6)
            .run(
                i ->
                    desk.transactor()
                        .call(
                            c ->
                                schedules()
                                    .change(
                                        c,
                                        schedule.id(),
                                        OptionalInt.of(1),
                                        content("every 70000"))))
            .valuesOrThrow();

    assertThat(results).containsOnlyOnce(new Edited(2));
    assertThat(results.stream().filter(new Stale(2)::equals)).hasSize(5);
    assertThat(ticks()).isEqualTo(1);
  }

  @Test
  void whatWasMissedIsCaughtUpAsChosen() {
    assertThat(runsAfterFiveYearsAway(CatchUp.ALL)).isEqualTo(6);
    assertThat(runsAfterFiveYearsAway(CatchUp.LATEST)).isEqualTo(1);
    assertThat(runsAfterFiveYearsAway(CatchUp.NONE)).isZero();
  }

  private int runsAfterFiveYearsAway(CatchUp catchUp) {
    ran.clear();
    database.execute("TRUNCATE lockstep.job_schedule, lockstep.job");
    LocalDate last = LocalDate.now(ZoneOffset.UTC).minusDays(10);
    Schedule schedule = create(yearly(last, "UTC"), catchUp);
    makeDue(database, schedule.id(), last.minusYears(5).atStartOfDay().toInstant(ZoneOffset.UTC));
    Worker node = startNode();
    // All that was due is done, and the tick waits for the time it would have had anyway.
    Await.until(
        "caught up",
        () ->
            schedules().find(schedule.id()).orElseThrow().nextAt().equals(schedule.nextAt())
                && desk.live() == 1);
    node.close();
    return ran.size();
  }

  @Test
  void aDeletedScheduleRunsNoMore() {
    Schedule schedule = create("every 60000", CatchUp.NONE);

    EditResult deleted =
        desk.transactor().call(c -> schedules().delete(c, schedule.id(), OptionalInt.of(1)));
    EditResult again =
        desk.transactor().call(c -> schedules().delete(c, schedule.id(), OptionalInt.empty()));

    assertThat(deleted).isEqualTo(new Edited(2));
    assertThat(again).isEqualTo(new Gone());
    assertThat(desk.live()).isZero();
    assertThat(schedules().preview(schedule.id(), 1)).isEmpty();
  }

  @Test
  void aScheduleThatNeverHappensHasNoNextRun() {
    Schedule never = create("never", CatchUp.ALL);

    assertThat(never.nextAt()).isEmpty();
    assertThat(desk.live()).isZero();
    assertThat(schedules().list(Optional.empty(), 10)).containsExactly(never);
  }

  @Test
  void schedulesOfNodesWhoseClocksDifferAreListedInTheOrderTheyWereMade() {
    Clock ahead = Clock.offset(Clock.systemUTC(), Duration.ofHours(1));
    Schedules nodeAhead = desk.jobs(ahead).schedules(Specs::read);
    Schedules nodeOnTime = schedules();
    List<Schedule> made = new ArrayList<>();
    for (Schedules node : List.of(nodeAhead, nodeOnTime, nodeAhead, nodeOnTime)) {
      made.add(0, desk.transactor().call(c -> node.create(c, node.nextId(), content("never"))));
      awaitAnotherMillisecond();
    }

    assertThat(schedules().list(Optional.empty(), 10)).containsExactlyElementsOf(made);
  }

  @Test
  void schedulesThatHaveEndedAreRemovedAfterAWhile() {
    Schedule ended = create("never", CatchUp.ALL);
    Schedule goesOn = create("every 60000", CatchUp.ALL);
    assertThat(removeOlderThan(Duration.ofHours(1))).isZero();
    database.execute("UPDATE lockstep.job_schedule SET done_until = now() - interval '2 hours'");

    assertThat(removeOlderThan(Duration.ofHours(1))).isEqualTo(1);

    assertThat(schedules().find(ended.id())).isEmpty();
    assertThat(schedules().find(goesOn.id())).isPresent();
  }

  private int removeOlderThan(Duration age) {
    return desk.transactor().call(c -> schedules().removeEnded(c, age));
  }

  @Test
  void aSpecThatTheReaderDoesNotUnderstandIsRefused() {
    assertThatThrownBy(() -> create("whenever", CatchUp.ALL))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(schedules().list(Optional.empty(), 10)).isEmpty();
  }

  private Schedules schedules() {
    return desk.jobs().schedules(Specs::read);
  }

  private Worker startNode() {
    WorkerConfig config = Desk.worker(2).withQueue(QueueConfig.of(Schedules.QUEUE, 2));
    Worker worker =
        desk.jobs()
            .worker(
                config,
                schedules()
                    .handlers(
                        Handlers.none()
                            .on(
                                Desk.KIND,
                                (payload, job) -> {
                                  ran.add(job.due());
                                  return Outcome.done();
                                })));
    workers.add(worker);
    return worker;
  }

  private Schedule create(String spec, CatchUp catchUp) {
    return desk.transactor()
        .call(c -> schedules().create(c, new NewSchedule("s", spec, Desk.job(1), catchUp)));
  }

  private static NewSchedule content(String spec) {
    return new NewSchedule("s", spec, Desk.job(1), CatchUp.LATEST);
  }

  private void change(ScheduleId id, int version, String spec) {
    EditResult result =
        desk.transactor()
            .call(c -> schedules().change(c, id, OptionalInt.of(version), content(spec)));
    assertThat(result).isEqualTo(new Edited(version + 1));
  }

  private int nextYear(ScheduleId id) {
    return schedules()
        .find(id)
        .orElseThrow()
        .nextAt()
        .orElseThrow()
        .atZone(ZoneOffset.UTC)
        .getYear();
  }

  /** Ids of different nodes are in no order within one. */
  private static void awaitAnotherMillisecond() {
    long before = databaseMillis();
    while (databaseMillis() == before) {
      Thread.onSpinWait();
    }
  }

  private static long databaseMillis() {
    return database.queryLong("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint");
  }

  private static List<Instant> waiting() {
    return database.query(
        "SELECT due FROM lockstep.job WHERE kind = ?",
        row -> row.getTimestamp(1).toInstant(),
        Desk.KIND);
  }

  private static long ticks() {
    return database.queryLong("SELECT count(*) FROM lockstep.job WHERE queue = ?", Schedules.QUEUE);
  }
}
