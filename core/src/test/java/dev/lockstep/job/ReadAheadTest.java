package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Jobs that were read ahead and have not begun give way to what has happened since. */
class ReadAheadTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private static final Instant LATER = Instant.parse("2099-01-01T09:00:00Z");

  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch go = new CountDownLatch(1);
  private Jobs jobs;
  private List<JobId> ids;

  @BeforeEach
  void newJobs() {
    jobs = desk.jobs();
    ids = new ArrayList<>();
  }

  @Test
  void aJobOfHighPriorityRunsBeforeThoseOfLowPriorityThatWereOnlyRead() throws Exception {
    start(1_500, Priority.LOW);
    enqueue(List.of(Desk.job("\"high\"").withPriority(Priority.HIGH)));
    enqueue(List.of(Desk.job("\"normal\"")));
    lookAgain();

    go.countDown();
    Await.until("both ran", () -> desk.ran.contains("\"normal\"") && desk.ran.contains("\"high\""));

    assertThat(desk.ran.stream().limit(3)).containsExactly("\"first\"", "\"high\"", "\"normal\"");
  }

  @Test
  void aJobThatIsCancelledOnTheNodeItselfNeverBegins() throws Exception {
    start(100, Priority.NORMAL);
    for (int i = 1; i < 100; i += 2) {
      JobId id = ids.get(i);
      desk.transactor().run(c -> jobs.cancel(c, id, OptionalInt.empty()));
    }

    go.countDown();
    desk.awaitNoneLive();

    assertThat(desk.ran).hasSize(51);
  }

  @Test
  void aJobThatIsChangedElsewhereDoesNotBeginAsItWasRead() throws Exception {
    start(4, Priority.NORMAL);
    Jobs elsewhere = desk.jobs();
    desk.transactor().run(c -> elsewhere.cancel(c, ids.get(0), OptionalInt.empty()));
    desk.transactor().run(c -> elsewhere.payload(c, ids.get(1), OptionalInt.empty(), "\"new\""));
    desk.transactor().run(c -> elsewhere.runAt(c, ids.get(2), OptionalInt.empty(), LATER));
    lookAgain();

    go.countDown();
    Await.until("what is due is done", () -> desk.live() == 1);

    assertThat(desk.ran).containsExactlyInAnyOrder("\"first\"", "\"new\"", "3");
  }

  @Test
  void aCancelThatIsRolledBackCancelsNothing() throws Exception {
    start(10, Priority.NORMAL);
    try (var connection = database.connection()) {
      connection.setAutoCommit(false);
      for (JobId id : ids) {
        jobs.cancel(connection, id, OptionalInt.empty());
      }
      go.countDown();
      connection.rollback();
    }

    desk.awaitNoneLive();

    assertThat(desk.ran).hasSize(11);
  }

  @Test
  void aLaneGoesOnBehindAJobThatIsCancelledBeforeItBegins() throws Exception {
    JobId first = enqueue(List.of(Desk.job("\"first\""))).get(0);
    startWorker();
    assertThat(first).isNotNull();
    List<JobId> lane =
        enqueue(
            List.of(
                Desk.job("\"a\"").inLane("lane"),
                Desk.job("\"b\"").inLane("lane"),
                Desk.job("\"c\"").inLane("lane")));
    lookAgain();
    desk.transactor().run(c -> jobs.cancel(c, lane.get(0), OptionalInt.empty()));
    desk.transactor().run(c -> desk.jobs().cancel(c, lane.get(1), OptionalInt.empty()));

    go.countDown();
    desk.awaitNoneLive();

    assertThat(desk.ran).containsExactly("\"first\"", "\"c\"");
  }

  /** One job runs, and so many have been read behind it. */
  private void start(int count, Priority priority) throws InterruptedException {
    enqueue(List.of(Desk.job("\"first\"").withPriority(Priority.HIGH)));
    startWorker();
    List<NewJob> batch = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      batch.add(Desk.job(i).withPriority(priority));
    }
    ids = enqueue(batch);
    lookAgain();
  }

  private void startWorker() throws InterruptedException {
    desk.start(
        jobs,
        Desk.worker(1).withQueue(QueueConfig.of("other", 1)),
        (payload, job) -> {
          if (job.queue().equals("other")) {
            return Outcome.done();
          }
          if (payload.equals("\"first\"")) {
            begun.countDown();
            assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
          }
          return desk.note(payload, job);
        });
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
  }

  private List<JobId> enqueue(List<NewJob> batch) {
    return desk.transactor()
        .call(
            c ->
                jobs.enqueueAll(c, batch).stream()
                    .map(one -> ((EnqueueResult.Created) one).id())
                    .toList());
  }

  /** A job of another queue in every shard: when they are done, the worker has looked since. */
  private void lookAgain() {
    for (int i = 0; i < 2; i++) {
      enqueue(Collections.nCopies(Desk.SHARDS, NewJob.of("other", Desk.KIND, "1")));
      Await.until(
          "the others are done",
          () -> database.queryLong("SELECT count(*) FROM lockstep.job WHERE queue = 'other'") == 0);
    }
  }
}
