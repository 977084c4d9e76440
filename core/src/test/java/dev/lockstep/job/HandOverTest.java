package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Transactor;
import java.time.Clock;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A shard changes hands while a job of it is running. */
class HandOverTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  @Test
  void longJobsGoOnWhenTheirShardsAreHandedOverAndHoldNobodyUp() throws Exception {
    CountDownLatch begun = new CountDownLatch(Desk.SHARDS);
    CountDownLatch go = new CountDownLatch(1);
    // One a shard, in turn.
    desk.enqueueMany(Desk.SHARDS);
    Worker first =
        desk.start(
            Desk.SHARDS,
            (payload, job) -> {
              begun.countDown();
              assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
              assertThat(job.holdsLease()).isTrue();
              return Desk.effect(payload, job);
            });
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();

    Worker second = desk.start(4, desk::note);
    Await.until(
        "half are the other's",
        () -> first.ownedShards() == Desk.SHARDS / 2 && second.ownedShards() == Desk.SHARDS / 2);
    // Four in each shard.
    Jobs jobs = desk.jobs();
    NewJob shortJob = Desk.job("\"short\"");
    desk.transactor().run(c -> jobs.enqueueAll(c, Collections.nCopies(4 * Desk.SHARDS, shortJob)));
    Await.until(
        "the other has run what is new in its shards",
        () -> desk.ran.size() == 4 * Desk.SHARDS / 2);
    assertThat(desk.jobs().list(JobState.RUNNING, JobFilter.ALL, Optional.empty(), 50))
        .hasSize(Desk.SHARDS / 2);
    go.countDown();
    desk.awaitNoneLive();

    assertThat(desk.effects())
        .filteredOn(effect -> !effect.equals("\"short\""))
        .containsExactlyInAnyOrder("0", "1", "2", "3", "4", "5", "6", "7");
    assertThat(desk.ran).containsOnly("\"short\"");
  }

  @Test
  void aHandOverThatFailsLateLeavesTheShardsAloneThatWereTakenAgain() throws Exception {
    int lanes = 4 * Desk.SHARDS;
    CountDownLatch go = new CountDownLatch(1);
    CountDownLatch begun = new CountDownLatch(lanes);
    for (int i = 0; i < lanes; i++) {
      desk.enqueue(Desk.job(i).inLane("lane" + i));
    }
    try (HeldStatement way = HeldStatement.on(database)) {
      Worker worker =
          desk.start(
              new Jobs(new Transactor(way.dataSource()), Desk.config()),
              Desk.worker(lanes + Desk.SHARDS),
              (payload, job) -> {
                if (payload.startsWith("\"")) {
                  return desk.note(payload, job);
                }
                begun.countDown();
                assertThat(go.await(120, TimeUnit.SECONDS)).isTrue();
                return Outcome.done();
              });
      assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
      way.hold("INSERT INTO lockstep.job_away");
      joinWithoutTaking();
      way.awaitHeld();
      // Both are taken for dead, and one comes back.
      database.execute("DELETE FROM lockstep.shard_member");
      enqueueInEachShard("\"taken again\"");
      Await.until("all are taken up again", () -> desk.ran.size() == Desk.SHARDS);
      // What the hand-over writes is refused by the server, whether it finds its lease or not.
      database.execute(
          """
          CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
            AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
          CREATE TRIGGER refuse BEFORE INSERT ON lockstep.job_away
            FOR EACH STATEMENT EXECUTE FUNCTION refuse();
          """);
      try {
        way.release();
        // The results come behind the hand-overs, so these have failed.
        Await.until("results are written", () -> desk.live() == lanes);
      } finally {
        database.execute("DROP FUNCTION refuse CASCADE");
      }
      enqueueInEachShard("\"after\"");
      Await.until("each shard goes on", () -> desk.ran.size() == 2 * Desk.SHARDS);
      assertThat(worker.ownedShards()).isEqualTo(Desk.SHARDS);
      go.countDown();
      desk.awaitNoneLive();
      worker.close();
    }
  }

  private void joinWithoutTaking() {
    database.execute(
        """
        INSERT INTO lockstep.shard_member (shard_group, member, node, leaving, expires_at)
        VALUES ('job', gen_random_uuid(), 'other', false, now() + interval '1 hour')""");
  }

  private void enqueueInEachShard(String payload) {
    Jobs jobs = desk.jobs();
    desk.transactor()
        .run(c -> jobs.enqueueAll(c, Collections.nCopies(Desk.SHARDS, Desk.job(payload))));
  }

  @Test
  void aResultAfterTheHandOverIsTakenOnlyFromTheNodeThatTheRowNames() {
    JobId id = desk.enqueue(Desk.job(1));
    desk.withLease(
        id,
        (lease, shards) -> {
          Task task = desk.read(lease);
          Map<ResultFence, List<JobResult>> done =
              Map.of(
                  new ResultFence(lease, true),
                  List.of(new JobResult(task, Outcome.done(), Duration.ZERO)));

          // The mark came too late: the lease was over.
          assertThat(desk.results(results -> results.write(done, true).refused()))
              .containsExactly(id);
          assertThat(desk.live()).isEqualTo(1);

          assertThat(desk.mark(task)).containsExactly(id);
          assertThat(desk.results(results -> results.write(done, true).refused())).isEmpty();
          assertThat(desk.live()).isZero();
        });
  }

  @Test
  void aJobThatWasChangedMeanwhileIsNeitherMarkedNorCountedAsLost() {
    JobId id = desk.enqueue(Desk.job(1));
    database.execute("UPDATE lockstep.job SET keeper = gen_random_uuid()");
    desk.withLease(
        id,
        (lease, shards) -> {
          Task task = desk.read(lease);
          database.execute("UPDATE lockstep.job SET keeper = NULL, version = 2");

          assertThat(desk.mark(task)).isEmpty();
          JobIds ids = new JobIds(Clock.systemUTC(), Desk.SHARDS);
          new ShardRecovery(desk.transactor(), shards, ids, 3).countLost(lease, List.of(task.row));
          // Nor buried, if that would have been its last.
          new ShardRecovery(desk.transactor(), shards, ids, 1).countLost(lease, List.of(task.row));
          assertThat(desk.jobs().find(id).orElseThrow().version()).isEqualTo(2);
          assertThat(database.queryLong("SELECT sum(crashes + attempts) FROM lockstep.job"))
              .isZero();
        });
  }

  @Test
  void aPassIsTheLongerTheOlderWhatItReads() {
    assertThat(JobStream.longestPass(true, Duration.ofDays(1))).hasSeconds(1);
    assertThat(JobStream.longestPass(false, Duration.ofSeconds(-1))).hasSeconds(10);
    assertThat(JobStream.longestPass(false, Duration.ofSeconds(30))).hasSeconds(30);
    assertThat(JobStream.longestPass(false, Duration.ofDays(1))).hasSeconds(60);
  }

  @Test
  void aJobThatRunsForLongIsSeenToBeRunning() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    JobId id = desk.enqueue(Desk.job(1));
    desk.start(
        desk.jobs(),
        Desk.worker(1).withMarkAfter(Duration.ofMillis(10)),
        (payload, job) -> {
          assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
          return desk.note(payload, job);
        });

    Await.until("running", () -> desk.jobs().find(id).orElseThrow().state() == JobState.RUNNING);
    go.countDown();
    desk.awaitNoneLive();

    assertThat(desk.ran).containsExactly("1");
  }

  @Test
  void jobsOfANodeThatHasNoTimeToFinishThemAreRunByTheOthers() throws Exception {
    CountDownLatch begun = new CountDownLatch(Desk.SHARDS);
    CountDownLatch go = new CountDownLatch(1);
    desk.enqueueMany(Desk.SHARDS);
    WorkerConfig inAHurry = Desk.worker(Desk.SHARDS).withStopTimeout(Duration.ZERO);
    Worker dies =
        desk.start(
            desk.jobs(),
            inAHurry,
            (payload, job) -> {
              begun.countDown();
              assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
              return Desk.effect(payload, job);
            });
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    Worker next = desk.start(4, Desk::effect);
    Await.until("half", () -> next.ownedShards() == Desk.SHARDS / 2);

    // Its handlers are interrupted at once, and give back what they have not finished.
    dies.close();
    desk.awaitNoneLive();

    assertThat(desk.effects()).doesNotHaveDuplicates().hasSize(Desk.SHARDS);
  }
}
