package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A queue that changes hands between workers and claimers: no job and no lane is with both. */
@Timeout(120)
class ClaimsBesideWorkersTest extends ClaimScene {
  @RegisterExtension static final TestDatabase SHARED = TestDatabase.migrated();

  private static final int FREE = 40;
  private static final String FENCE_ALL =
      "SELECT 1 FROM lockstep.shard WHERE shard_group = 'job' FOR SHARE";

  ClaimsBesideWorkersTest() {
    super(SHARED, Desk.QUEUE);
  }

  @Test
  void nothingOfAQueueThatAWorkerServesIsClaimed() throws InterruptedException {
    CountDownLatch runs = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    enqueue(job("1").inLane("x"), job("2").inLane("x"), job("free"));
    Worker worker =
        desk.start(
            1,
            (payload, context) -> {
              runs.countDown();
              goOn.await();
              return desk.note(payload, context);
            });
    runs.await();
    Claims.Taken taken = ask();
    assertThat(taken.jobs().get(0)).isEmpty();
    assertThat(taken.served()).isTrue();
    goOn.countDown();
    desk.awaitNoneLive();
    worker.close();
    enqueue(job("after"));
    assertThat(ask().served()).isFalse();
    assertThat(claim(1)).isEmpty();
  }

  @Test
  void aWorkerLeavesClaimedJobsAloneAndTheirLanesWait() {
    enqueue(job("1").inLane("x"), job("2").inLane("x"), job("alone"));
    List<ClaimedJob> claimed = claim(5);
    assertThat(payloads(claimed)).containsExactlyInAnyOrder("\"1\"", "\"alone\"");
    desk.start(1, desk::note);
    runFreeJobs();
    assertThat(desk.ran).doesNotContain("\"1\"", "\"2\"", "\"alone\"");
    claimed.forEach(job -> assertThat(end(job, Outcome.done())).isEqualTo(done()));
    desk.awaitNoneLive();
    assertThat(desk.ran).contains("\"2\"").doesNotContain("\"1\"", "\"alone\"");
  }

  @Test
  void alsoWhenItsShardsAreHandedOverMeanwhile() {
    for (int i = 0; i < 20; i++) {
      enqueue(job(i + "a").inLane("lane" + i), job(i + "b").inLane("lane" + i));
    }
    List<ClaimedJob> claimed = claim(50);
    assertThat(claimed).hasSize(20);
    desk.start(1, desk::note);
    Worker second = desk.start(1, desk::note);
    Await.until("shards were handed over", () -> second.ownedShards() == Desk.SHARDS / 2);
    runFreeJobs();
    assertThat(desk.ran).hasSize(FREE);
    transactor.run(c -> jobs.cancel(c, claimed.get(0).id(), OptionalInt.empty()));
    claimed.stream().skip(1).forEach(job -> assertThat(end(job, Outcome.done())).isEqualTo(done()));
    Await.until("all but the lane of the first go on", () -> live() == 1);
    assertThat(end(claimed.get(0), Outcome.done())).isInstanceOf(ClaimEnd.Lost.class);
    claims.giveBackIfChanged(claimed.get(0).token(), ANN);
    desk.awaitNoneLive();
    assertThat(desk.ran).hasSize(FREE + 20);
  }

  @Test
  void whatItsClaimerDidNotAnswerAWorkerRunsAsTheNextAttempt() {
    enqueue(job("1").inLane("x"), job("2").inLane("x"));
    ClaimedJob late = claim(1).get(0);
    desk.start(1, (payload, context) -> desk.note(payload + context.attempt(), context));
    runFreeJobs();
    assertThat(desk.ran).hasSize(FREE);
    expireLeases();
    desk.awaitNoneLive();
    assertThat(desk.ran).endsWith("\"1\"2", "\"2\"1");
    assertThat(end(late, Outcome.done())).isInstanceOf(ClaimEnd.Lost.class);
  }

  @Test
  void aWorkerThatDiedIsNotWaitedForLongerThanItsLease() {
    String member = "00000000-0000-0000-0000-000000000001";
    database.execute(
        """
        INSERT INTO lockstep.shard_member (shard_group, member, node, leaving, expires_at)
        VALUES ('job', '%1$s', 'gone', false, now() + interval '1 hour');
        INSERT INTO lockstep.job_worker_queue (queue, member) VALUES ('%2$s', '%1$s')\
        """
            .formatted(member, queue));
    enqueue(job("1"));
    assertThat(ask().served()).isTrue();
    desk.age("gone");
    assertThat(claim(1)).hasSize(1);
    // It can not come back as if nothing had been.
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.shard_member")).isZero();
  }

  /** Its lease of a tenth of a second ends an hour from now, by that clock. */
  @Test
  void norAfterTheDatabasesClockWasSetBack() {
    database.execute(
        """
        INSERT INTO lockstep.shard_member (shard_group, member, node, leaving, expires_at, lease_ms)
        VALUES ('job', '%1$s', 'gone', false, now() + interval '1 hour', 100);
        INSERT INTO lockstep.job_worker_queue (queue, member) VALUES ('%2$s', '%1$s')\
        """
            .formatted("00000000-0000-0000-0000-000000000001", queue));
    enqueue(job("1"));

    assertThat(ask().served()).isTrue();
    Await.until("it counts as dead", () -> claim(1).size() == 1);
  }

  @Test
  void whatAWorkerWritesThatWasTakenForDeadIsRefusedAndTheClaimersResultHolds() throws Exception {
    CountDownLatch runs = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    enqueue(job("1"));
    Worker stale =
        startWithoutHeartbeats(
            (payload, context) -> {
              runs.countDown();
              goOn.await();
              return Outcome.Done.writing(c -> effect(c, "stale worker"));
            });
    runs.await();
    desk.age("stale");
    ClaimedJob mine = claim(1).get(0);
    goOn.countDown();
    Await.until("it knows that it is refused", () -> stale.ownedShards() < Desk.SHARDS);
    assertThat(end(mine, Outcome.Done.writing(c -> effect(c, "claimer")))).isEqualTo(done());
    assertThat(desk.effects()).containsExactly("claimer");
    // Whoever takes the shards has to know that they were not handed over.
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.shard WHERE owner IS NOT NULL"))
        .isEqualTo(Desk.SHARDS);
  }

  @Test
  void aWorkerThatWasTakenForDeadWhileItWritesAResultIsNotClaimedFromUntilItHas() throws Exception {
    CountDownLatch writes = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    enqueue(job("1"));
    // What fences the result, only earlier, so that the test can look at it.
    startWithoutHeartbeats(
        (payload, context) ->
            Outcome.Done.writing(
                c -> {
                  effect(c, "worker");
                  Sql.execute(c, FENCE_ALL);
                  writes.countDown();
                  await(goOn);
                }));
    writes.await();
    desk.age("stale");
    assertThat(ask().served()).isTrue();
    goOn.countDown();
    desk.awaitNoneLive();
    assertThat(desk.effects()).containsExactly("worker");
    assertThat(ask().served()).isFalse();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private Worker startWithoutHeartbeats(JobHandler<String> handler) {
    return desk.start(
        jobs,
        WorkerConfig.named("stale")
            .withQueue(Desk.queue(1))
            .withLease(Desk.LONG, Duration.ofMinutes(3))
            .withPollInterval(Duration.ofMillis(20)),
        handler);
  }

  @Test
  void whatARowOrARecordSaysIsRunningIsClaimedOnceItsNodeIsGone() {
    enqueue(
        job("1").inLane("x"),
        job("2").inLane("x"),
        job("y").inLane("y"),
        job("free"),
        job("last").withMaxAttempts(1).withUnique(NewJob.UniqueKey.whileLive("k")));
    database.execute(
        """
        INSERT INTO lockstep.shard_member (shard_group, member, node, leaving, expires_at)
        VALUES ('job', '%1$s', 'gone', false, now() + interval '1 hour');
        UPDATE lockstep.job SET keeper = '%1$s'
        WHERE payload::text IN ('"1"', '"free"', '"last"');
        INSERT INTO lockstep.job_away (shard, id, member, run, queue, priority, lane)
        SELECT shard, gen_random_uuid(), '%1$s', 1, queue, priority, lane
        FROM lockstep.job WHERE lane = 'y'\
        """
            .formatted("00000000-0000-0000-0000-000000000001"));
    assertThat(claim(9)).isEmpty();
    desk.age("gone");
    assertThat(claim(9))
        .extracting(job -> job.payload() + job.attempt())
        .containsExactlyInAnyOrder("\"1\"2", "\"y\"1", "\"free\"2");
    Job dead = jobs.list(JobState.DEAD, JobFilter.ALL, Optional.empty(), 10).get(0);
    assertThat(dead.reason()).hasValueSatisfying(reason -> assertThat(reason).contains("died"));
    assertThat(jobs.attempts(dead.id())).hasSize(1);
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.job_unique")).isZero();
  }

  @Test
  void aJobThatSomebodyHasLockedHoldsUpNoOtherThatWasClaimed() throws SQLException {
    enqueue(job("x1").inLane("x"), job("y1").inLane("y"), job("y2").inLane("y"));
    List<ClaimedJob> claimed = claim(5);
    JobId x1 =
        claimed.stream()
            .filter(job -> job.payload().equals("\"x1\""))
            .map(ClaimedJob::id)
            .findAny()
            .orElseThrow();
    desk.start(1, desk::note);
    try (Connection somebody = database.connection()) {
      somebody.setAutoCommit(false);
      jobs.payload(somebody, x1, OptionalInt.empty(), "\"edited\"");
      expireLeases();
      Await.until("lane y goes on", () -> desk.ran.contains("\"y2\""));
      somebody.rollback();
    }
    desk.awaitNoneLive();
  }

  /** Enough to be in every shard. When they have run, all shards were read. */
  private void runFreeJobs() {
    long before = live();
    for (int i = 0; i < FREE; i++) {
      enqueue(job("free" + i));
    }
    Await.until("free jobs have run", () -> live() <= before);
    assertThat(live()).isEqualTo(before);
  }
}
