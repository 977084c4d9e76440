package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.job.EditResult.Edited;
import dev.lockstep.job.EditResult.Stale;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A job that waits is made due at once, and what that means for its place in a lane. */
class RunNowTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private static final Instant LATER = Instant.parse("2099-01-01T09:00:00Z");

  private Jobs jobs;

  @BeforeEach
  void newJobs() {
    jobs = desk.jobs();
  }

  @Test
  void aJobThatWaitsToBeRetriedIsRunNowBeforeThoseBehindIt() {
    aJobThatWaitsKeepsItsPlace((c, id) -> jobs.runNow(c, id, OptionalInt.empty()));
  }

  @Test
  void aJobThatWaitsToBeRetriedAndIsMovedToATimeThatHasPassedRunsBeforeThoseBehindIt() {
    aJobThatWaitsKeepsItsPlace(
        (c, id) -> jobs.runAt(c, id, OptionalInt.empty(), Instant.now().minusMillis(1)));
  }

  private void aJobThatWaitsKeepsItsPlace(BiFunction<Connection, JobId, EditResult> runNow) {
    List<JobId> lane = enqueueLane("a", "b", "c");
    desk.start(
        jobs,
        Desk.worker(2),
        (payload, job) -> {
          desk.ran.add(payload);
          return payload.equals("\"a\"") && job.attempt() == 1
              ? new Outcome.Retry("not yet", Optional.of(Duration.ofDays(1)))
              : Outcome.done();
        });
    Await.until(
        "it waits", () -> jobs.find(lane.get(0)).orElseThrow().state() == JobState.SCHEDULED);

    EditResult result = desk.transactor().call(c -> runNow.apply(c, lane.get(0)));
    assertThat(result).isInstanceOf(Edited.class);
    desk.awaitNoneLive();

    assertThat(desk.ran).containsExactly("\"a\"", "\"a\"", "\"b\"", "\"c\"");
  }

  @Test
  void aJobBehindOneThatRunsOvertakesNobodyAndLosesNoPlace() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    List<JobId> lane = enqueueLane("a", "b", "c");
    desk.start(
        jobs,
        Desk.worker(2),
        (payload, job) -> {
          begun.countDown();
          assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
          return desk.note(payload, job);
        });
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();

    for (JobId id : lane) {
      // Also the one that runs: its result is not refused for that.
      assertThat(runNow(id, 1)).isEqualTo(new Edited(1));
    }
    go.countDown();
    desk.awaitNoneLive();

    assertThat(desk.ran).containsExactly("\"a\"", "\"b\"", "\"c\"");
  }

  @Test
  void aJobThatIsScheduledForLaterRunsBehindThoseThatAreDueAndBeforeThoseThatAreNot() {
    List<JobId> lane = enqueueLane("a", "b");
    JobId later = desk.enqueue(Desk.job("\"later\"").inLane("lane").at(LATER));
    desk.enqueue(Desk.job("\"last\"").inLane("lane").at(LATER.minusSeconds(60)));
    assertThat(runNow(later, 1)).isEqualTo(new Edited(2));
    assertThat(runNow(later, 1)).isEqualTo(new Stale(2));

    desk.start(jobs, Desk.worker(2), desk::note);
    Await.until("the others wait", () -> desk.live() == 1);

    assertThat(desk.ran).containsExactly("\"a\"", "\"b\"", "\"later\"");
    assertThat(runNow(lane.get(0), 1)).isEqualTo(new EditResult.Gone());
  }

  private EditResult runNow(JobId id, int version) {
    return desk.transactor().call(c -> jobs.runNow(c, id, OptionalInt.of(version)));
  }

  private List<JobId> enqueueLane(String... names) {
    List<JobId> ids = new ArrayList<>();
    for (String name : names) {
      ids.add(desk.enqueue(Desk.job("\"%s\"".formatted(name)).inLane("lane")));
    }
    return ids;
  }
}
