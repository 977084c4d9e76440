package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.job.EditResult.Edited;
import dev.lockstep.job.EditResult.Gone;
import dev.lockstep.job.EditResult.OfSchedule;
import dev.lockstep.job.Recurrence.CatchUp;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A schedule goes on as long as it has its tick: nothing that is done to jobs takes it away. */
class TickOfScheduleTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private Schedule schedule;
  private JobId tick;

  @BeforeEach
  void create() {
    database.execute("TRUNCATE lockstep.job_schedule");
    schedule =
        desk.transactor()
            .call(
                c ->
                    schedules()
                        .create(c, new NewSchedule("s", "every 100", Desk.job(1), CatchUp.ALL)));
    tick = desk.jobs().list(JobFilter.ALL, Optional.empty(), 10).get(0).id();
  }

  @Test
  void itIsNotCancelledAndTheAnswerNamesTheSchedule() {
    assertThat(edit(c -> desk.jobs().cancel(c, tick, OptionalInt.empty())))
        .isEqualTo(new OfSchedule(schedule.id()));

    theScheduleGoesOn();
  }

  @Test
  void itIsNotPutOff() {
    Instant later = Instant.now().plus(Duration.ofDays(1));

    assertThat(edit(c -> desk.jobs().runAt(c, tick, OptionalInt.empty(), later)))
        .isEqualTo(new OfSchedule(schedule.id()));

    theScheduleGoesOn();
  }

  @Test
  void itsPayloadIsNotReplaced() {
    String ofAnotherVersion = "\"%s 9\"".formatted(schedule.id());

    assertThat(edit(c -> desk.jobs().payload(c, tick, OptionalInt.empty(), ofAnotherVersion)))
        .isEqualTo(new OfSchedule(schedule.id()));

    theScheduleGoesOn();
  }

  @Test
  void itIsOfAScheduleWhateverVersionIsMeant() {
    assertThat(edit(c -> desk.jobs().cancel(c, tick, OptionalInt.of(9))))
        .isEqualTo(new OfSchedule(schedule.id()));
  }

  @Test
  void runEarlyItMakesNothingAndWaitsAgain() {
    Schedule yearly = yearly();
    JobId early = tickOf(yearly);

    assertThat(edit(c -> desk.jobs().runNow(c, early, OptionalInt.of(1)))).isEqualTo(new Edited(2));

    whileWorking("another tick", () -> !tickOf(yearly).equals(early));
    assertThat(schedules().find(yearly.id())).contains(yearly);
    assertThat(desk.jobs().find(tickOf(yearly)).orElseThrow().due())
        .isEqualTo(yearly.nextAt().orElseThrow());
  }

  @Test
  void aDeadOneIsNotDiscardedButReplayed() {
    bury();

    assertThat(edit(c -> desk.jobs().discard(c, tick))).isEqualTo(new OfSchedule(schedule.id()));
    assertThat(removeDead()).isZero();

    boolean replayed = desk.transactor().call(c -> desk.jobs().replay(c, tick));
    assertThat(replayed).isTrue();
    theScheduleGoesOn();
  }

  @Test
  void aDeadOneEndsWithItsSchedule() {
    bury();

    edit(c -> schedules().delete(c, schedule.id(), OptionalInt.empty()));

    assertThat(dead()).isZero();
    assertThat(desk.jobs().attempts(tick)).isEmpty();
  }

  @Test
  void aDeadOneGivesWayToThatOfTheChangedSchedule() {
    bury();

    edit(
        c ->
            schedules()
                .change(
                    c,
                    schedule.id(),
                    OptionalInt.empty(),
                    new NewSchedule("s", "every 100", Desk.job(1), CatchUp.ALL)));

    assertThat(dead()).isZero();
    theScheduleGoesOn();
  }

  @Test
  void discardingAJobThatLivesLeavesItsAttemptsRecorded() {
    JobId failing = desk.enqueue(Desk.job(3));
    database.execute(
        """
        INSERT INTO lockstep.job_attempt (shard, id, attempt, at, error)
        VALUES (%d, '%s', 1, now(), 'no')"""
            .formatted(failing.shard(), failing));

    assertThat(edit(c -> desk.jobs().discard(c, failing))).isEqualTo(new Gone());

    assertThat(desk.jobs().attempts(failing)).hasSize(1);
  }

  @Test
  void nobodyClaimsIt() {
    ClaimAsk ask = new ClaimAsk("somebody", 1, Duration.ofMinutes(1));

    assertThatThrownBy(() -> desk.jobs().claims().claim(Schedules.QUEUE, List.of(ask)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("schedules");
    theScheduleGoesOn();
  }

  private void theScheduleGoesOn() {
    whileWorking("two runs", () -> desk.ran.size() >= 2);
  }

  private void whileWorking(String what, BooleanSupplier awaited) {
    Worker worker =
        desk.jobs()
            .worker(
                Desk.worker(1).withQueue(QueueConfig.of(Schedules.QUEUE, 1)),
                schedules().handlers(Handlers.none().on(Desk.KIND, desk::note)));
    try {
      Await.until(what, awaited);
    } finally {
      worker.close();
    }
  }

  private Schedules schedules() {
    return desk.jobs().schedules(Specs::read);
  }

  private Schedule yearly() {
    String spec = Specs.yearly(LocalDate.now(ZoneOffset.UTC), "UTC");
    return desk.transactor()
        .call(c -> schedules().create(c, new NewSchedule("y", spec, Desk.job(2), CatchUp.LATEST)));
  }

  private static JobId tickOf(Schedule schedule) {
    return JobId.of(
        database
            .query(
                "SELECT tick::text FROM lockstep.job_schedule WHERE id = ?::uuid",
                row -> row.getString(1),
                schedule.id().toString())
            .get(0));
  }

  /** As it is after its last attempt. */
  private void bury() {
    database.execute(
        """
        INSERT INTO lockstep.job_dead (shard, id, queue, priority, due, kind, payload, max_attempts,
                                       attempts, crashes, reason, died_at, version)
        SELECT shard, id, queue, priority, due, kind, payload, max_attempts, max_attempts, 0,
               'no reader', now() - interval '1 hour', version
        FROM lockstep.job WHERE id = '%1$s';
        INSERT INTO lockstep.job_attempt (shard, id, attempt, at, error)
        SELECT shard, id, 1, now(), 'no reader' FROM lockstep.job WHERE id = '%1$s';
        DELETE FROM lockstep.job WHERE id = '%1$s'"""
            .formatted(tick));
  }

  private int removeDead() {
    return desk.transactor().call(c -> desk.jobs().removeDead(c, JobFilter.ALL, Duration.ZERO, 10));
  }

  private static long dead() {
    return database.queryLong("SELECT count(*) FROM lockstep.job_dead");
  }

  private EditResult edit(Function<Connection, EditResult> change) {
    return desk.transactor().call(change::apply);
  }
}
