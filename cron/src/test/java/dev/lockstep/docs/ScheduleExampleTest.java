package dev.lockstep.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.cron.CronTimes;
import dev.lockstep.job.Handlers;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.LocalTimes;
import dev.lockstep.job.NewJob;
import dev.lockstep.job.NewSchedule;
import dev.lockstep.job.Outcome;
import dev.lockstep.job.QueueConfig;
import dev.lockstep.job.Recurrence;
import dev.lockstep.job.Recurrence.CatchUp;
import dev.lockstep.job.Recurrence.Gap;
import dev.lockstep.job.Recurrence.Overlap;
import dev.lockstep.job.Schedule;
import dev.lockstep.job.Schedules;
import dev.lockstep.job.Worker;
import dev.lockstep.job.WorkerConfig;
import dev.lockstep.job.Yearly.LeapDay;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.time.Instant;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.ZoneId;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The example of the document about recurring jobs, run. */
class ScheduleExampleTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private static final BlockingQueue<String> GREETED = new ArrayBlockingQueue<>(10);

  // snippet: schedules
  /** "cron|Asia/Tokyo|0 9 * * *" or "birthday|Europe/Berlin|--02-29": words of your own. */
  static Recurrence read(String spec) {
    String[] parts = spec.split("\\|", 3);
    LocalTimes times =
        parts[0].equals("cron")
            ? CronTimes.parse(parts[2])
            : LocalTimes.yearly(MonthDay.parse(parts[2]), LocalTime.of(9, 0), LeapDay.MAR_1);
    return new Recurrence(times, ZoneId.of(parts[1]), Gap.NEXT, Overlap.FIRST);
  }

  /** At 09:00 on the wall of wherever she lives; made up for if the servers were down. */
  static Schedule greet(Transactor transactor, Schedules schedules) {
    NewJob greeting = NewJob.of("mail", "greet", "{\"name\": \"Ann\"}");
    return transactor.call(
        c ->
            schedules.create(
                c,
                new NewSchedule(
                    "Ann's birthday", "birthday|Asia/Tokyo|--02-29", greeting, CatchUp.LATEST)));
  }

  static Worker startWorker(Jobs jobs, Schedules schedules) {
    Handlers handlers = Handlers.none().on("greet", (json, job) -> greetOnce(json, job.due()));
    return jobs.worker(
        WorkerConfig.named("node-1")
            .withQueue(QueueConfig.of("mail", 8))
            .withQueue(QueueConfig.of(Schedules.QUEUE, 2)),
        schedules.handlers(handlers));
  }

  // end: schedules

  private static Outcome greetOnce(String json, Instant due) {
    GREETED.add(json + " " + due);
    return Outcome.done();
  }

  @Test
  void aBirthdayIsGreetedAtNineLocalTimeAndTheNextOneIsAYearLater() throws Exception {
    Transactor transactor = new Transactor(database.dataSource());
    Jobs jobs = new Jobs(transactor);
    Schedules schedules = jobs.schedules(ScheduleExampleTest::read);
    Schedule schedule = greet(transactor, schedules);
    assertThat(schedules.preview(schedule.id(), 3).orElseThrow())
        .hasSize(3)
        .allMatch(at -> at.atZone(ZoneId.of("Asia/Tokyo")).getHour() == 9);

    // It is 2024, as far as the schedule knows.
    database.execute(
        "UPDATE lockstep.job_schedule SET next_at = '2024-02-29 00:00Z', done_until = '2024-01-01';"
            + " UPDATE lockstep.job SET due = '2024-02-29 00:00Z'");
    try (Worker worker = startWorker(jobs, schedules)) {
      String greeted = GREETED.poll(30, TimeUnit.SECONDS);
      assertThat(greeted).startsWith("{\"name\": \"Ann\"}").endsWith("T00:00:00Z");
      assertThat(worker.owners()).hasSize(32);
    }
    assertThat(GREETED).as("once").isEmpty();
    assertThat(schedules.find(schedule.id()).orElseThrow().nextAt()).isEqualTo(schedule.nextAt());
  }

  @Test
  void aCronExpressionInAZoneOfItsOwn() {
    assertThat(read("cron|Asia/Tokyo|0 9 * * *").preview(Instant.parse("2026-01-01T00:00:00Z"), 1))
        .containsExactly(Instant.parse("2026-01-02T00:00:00Z"));
  }
}
