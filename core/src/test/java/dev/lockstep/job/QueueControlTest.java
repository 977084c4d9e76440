package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pause, rate, priorities and wake-up. */
class QueueControlTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  @Test
  void aPausedQueueBeginsNothingOnAnyNodeUntilItIsResumed() {
    WorkerConfig both = Desk.worker(2).withQueue(QueueConfig.of("other", 1));
    desk.start(desk.jobs(), both, desk::note);
    desk.start(desk.jobs(), both, desk::note);
    desk.enqueueMany(10);
    desk.awaitNoneLive();
    desk.ran.clear();

    desk.jobs().pause(Desk.QUEUE);
    passThroughAllNodes();
    desk.enqueueMany(20);
    passThroughAllNodes();

    assertThat(desk.ran).hasSize(2 * Desk.SHARDS).containsOnly("\"other\"");
    QueueView view = desk.jobs().queues().get(0);
    assertThat(view.name()).isEqualTo(Desk.QUEUE);
    assertThat(view.paused()).isTrue();
    assertThat(view.ready()).isEqualTo(20);
    assertThat(view.oldestDue()).isPresent();
    desk.jobs().resume(Desk.QUEUE);
    desk.awaitNoneLive();
    assertThat(desk.ran).hasSize(2 * Desk.SHARDS + 20);
  }

  /** A job of another queue in every shard: when they are done, every node has looked since. */
  private void passThroughAllNodes() {
    NewJob other = NewJob.of("other", Desk.KIND, "\"other\"");
    Jobs jobs = desk.jobs();
    desk.transactor().run(c -> jobs.enqueueAll(c, Collections.nCopies(Desk.SHARDS, other)));
    Await.until(
        "the others are done",
        () -> database.queryLong("SELECT count(*) FROM lockstep.job WHERE queue = 'other'") == 0);
  }

  @Test
  void aRateLimitHoldsOverAllNodes() {
    desk.jobs().limitRate(Desk.QUEUE, OptionalDouble.of(0.001));
    desk.enqueueMany(50);
    desk.start(4, desk::note);
    desk.start(4, desk::note);

    // One each at once; the next would be minutes later.
    Await.until("some began", () -> !desk.ran.isEmpty());
    assertThat(desk.ran.size()).isLessThanOrEqualTo(4);
    desk.jobs().limitRate(Desk.QUEUE, OptionalDouble.empty());
    desk.awaitNoneLive();
    assertThat(desk.ran).hasSize(50);
  }

  @Test
  void aRateMustBePositive() {
    assertThatThrownBy(() -> desk.jobs().limitRate(Desk.QUEUE, OptionalDouble.of(0)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> desk.jobs().limitRate(Desk.QUEUE, OptionalDouble.of(Double.NaN)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void dueJobsOfAHigherPriorityComeFirst() {
    List<NewJob> jobs = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      jobs.add(Desk.job("\"low\"").withPriority(Priority.LOW));
      jobs.add(Desk.job("\"normal\""));
      jobs.add(Desk.job("\"high\"").withPriority(Priority.HIGH));
    }
    desk.jobs().pause(Desk.QUEUE);
    desk.transactor().run(c -> desk.jobs().enqueueAll(c, jobs));
    Worker worker = desk.start(1, desk::note);
    Await.until("owns all", () -> worker.ownedShards() == Desk.SHARDS);

    desk.jobs().resume(Desk.QUEUE);
    desk.awaitNoneLive();

    List<String> ran = List.copyOf(desk.ran);
    assertThat(ran.subList(0, 10)).containsOnly("\"high\"");
    assertThat(ran.subList(20, 30)).containsOnly("\"low\"");
  }

  @Test
  void aNotificationWakesAWorkerThatWouldSleepForAnHour() {
    WorkerConfig sleepy =
        Desk.worker(1).withPollInterval(Duration.ofHours(1)).withListen(database.dataSource());
    Worker worker = desk.start(desk.jobs(), sleepy, desk::note);
    Await.until("owns all", () -> worker.ownedShards() == Desk.SHARDS);

    desk.enqueue(Desk.job(1));
    Await.until("ran", () -> desk.ran.contains("1"));
    desk.enqueue(Desk.job(2));
    Await.until("ran", () -> desk.ran.contains("2"));
  }

  @Test
  void aWorkerSleepsExactlyUntilTheNextJobIsDue() {
    Instant soon =
        database
            .query("SELECT now() + interval '700 milliseconds'", r -> r.getTimestamp(1).toInstant())
            .get(0);
    desk.enqueue(Desk.job(1).at(soon));
    desk.start(desk.jobs(), Desk.worker(1).withPollInterval(Duration.ofHours(1)), desk::note);

    Await.until("ran", () -> desk.ran.contains("1"));

    assertThat(database.queryLong("SELECT (now() >= ?::timestamptz)::int", soon.toString()))
        .isEqualTo(1);
  }

  @Test
  void closeFinishesWhatIsRunningAndReturnsTheRest() throws Exception {
    CountDownLatch begun = new CountDownLatch(2);
    CountDownLatch go = new CountDownLatch(1);
    desk.enqueueMany(10);
    Worker worker =
        desk.start(
            2,
            (payload, job) -> {
              begun.countDown();
              assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
              return desk.note(payload, job);
            });
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    Thread closer = new Thread(worker::close, "closer");
    closer.start();
    Await.until("closing", () -> closer.getState() == Thread.State.TIMED_WAITING);
    go.countDown();
    closer.join();

    assertThat(desk.ran).hasSize(2);
    assertThat(desk.live()).isEqualTo(8);
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.shard_member")).isZero();
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.shard WHERE owner IS NOT NULL"))
        .isZero();
  }

  @Test
  void aPageOfJobsIsTheNewestFirstAndGoesOnWhereTheLastEnded() {
    desk.enqueueMany(25);

    List<Job> first = desk.jobs().list(JobState.READY, JobFilter.ALL, Optional.empty(), 10);
    List<Job> second =
        desk.jobs().list(JobState.READY, JobFilter.ALL, Optional.of(first.get(9).id()), 100);

    assertThat(first).hasSize(10).extracting(Job::payload).startsWith("24", "23");
    assertThat(second).hasSize(15).extracting(Job::payload).endsWith("1", "0");
  }
}
