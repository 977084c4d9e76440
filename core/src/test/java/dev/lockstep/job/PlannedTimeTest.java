package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Every attempt is told when its job was first to run, however often that has been put off. */
class PlannedTimeTest extends ClaimScene {
  @RegisterExtension static final TestDatabase SHARED = TestDatabase.migrated();

  private final Instant planned =
      Instant.now().minus(Duration.ofHours(2)).truncatedTo(ChronoUnit.MILLIS);
  private final Queue<Instant> told = new ConcurrentLinkedQueue<>();

  PlannedTimeTest() {
    super(SHARED);
  }

  private Outcome noteAnd(JobContext job, Outcome outcome) {
    told.add(job.due());
    return outcome;
  }

  private void awaitTold(int times) {
    Await.until("told " + times + " times", () -> told.size() >= times);
    assertThat(told).containsOnly(planned);
  }

  @Test
  void aRetriedAndASnoozedJobAreToldTheTimeOfTheFirstAttempt() {
    desk.start(
        1,
        (payload, job) ->
            noteAnd(
                job,
                switch (told.size()) {
                  case 0 -> new Outcome.Retry("not yet");
                  case 1 -> new Outcome.Snooze(Duration.ofMillis(1));
                  default -> Outcome.done();
                }));
    desk.enqueue(Desk.job(1).at(planned));

    awaitTold(3);
  }

  @Test
  void aDeadLetterThatIsReplayedIsToldItToo() {
    desk.start(
        1,
        (payload, job) -> noteAnd(job, told.size() < 2 ? new Outcome.Retry("no") : Outcome.done()));
    JobId id = desk.enqueue(Desk.job(1).at(planned).withMaxAttempts(2));
    Await.until("dead", () -> desk.jobs().find(id).orElseThrow().state() == JobState.DEAD);

    transactor.run(c -> jobs.replay(c, id));

    awaitTold(3);
  }

  @Test
  void aJobThatIsRunAheadOfItsTimeIsToldItsTime() {
    Instant later = planned.plus(Duration.ofDays(1));
    JobId id = desk.enqueue(Desk.job(1).at(later));
    transactor.run(c -> jobs.runNow(c, id, OptionalInt.empty()));

    desk.start(1, (payload, job) -> noteAnd(job, Outcome.done()));

    Await.until("told", () -> !told.isEmpty());
    assertThat(told).containsExactly(later);
  }

  @Test
  void aJobThatIsMovedIsToldItsNewTime() {
    JobId id = desk.enqueue(Desk.job(1).at(planned.minus(Duration.ofDays(1))));
    desk.start(1, (payload, job) -> noteAnd(job, new Outcome.Snooze(Duration.ofDays(7))));
    Await.until("told", () -> !told.isEmpty());
    Instant later = planned.plus(Duration.ofDays(1));
    Await.until(
        "moved",
        () ->
            transactor.call(c -> jobs.runAt(c, id, OptionalInt.empty(), later))
                instanceof EditResult.Edited);
    told.clear();

    transactor.run(c -> jobs.runNow(c, id, OptionalInt.empty()));

    Await.until("told", () -> !told.isEmpty());
    assertThat(told).containsOnly(later);
  }

  @Test
  void aClaimerIsToldItAtEveryAttempt() {
    enqueue(job("a").at(planned));
    ClaimedJob first = claim(1).get(0);
    end(first, new Outcome.Snooze(Duration.ofMillis(1)));

    Await.until("claimable again", () -> !claimInto().isEmpty());

    assertThat(first.due()).isEqualTo(planned);
    assertThat(told).containsExactly(planned);
  }

  private List<ClaimedJob> claimInto() {
    List<ClaimedJob> claimed = claim(1);
    claimed.forEach(one -> told.add(one.due()));
    return claimed;
  }
}
