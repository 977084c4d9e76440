package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Effects that change or cancel the very job they complete: the job ends as they leave it. */
class OwnJobTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private static final Instant LATER = Instant.parse("2099-01-01T09:00:00Z");

  private Jobs jobs;

  @BeforeEach
  void newJobs() {
    jobs = desk.jobs();
  }

  @Test
  void aJobWhoseEffectsCancelItIsGoneAndTheyHappenOnce() {
    NewJob.UniqueKey key = NewJob.UniqueKey.whileLive("key");
    desk.enqueue(Desk.job("\"a\"").inLane("lane").withUnique(key));
    desk.enqueue(Desk.job("\"b\"").inLane("lane"));
    desk.start(
        jobs,
        Desk.worker(2),
        (payload, job) ->
            Outcome.Done.writing(
                c -> {
                  Sql.execute(c, "INSERT INTO effect VALUES (?)", payload);
                  jobs.cancel(c, job.id(), OptionalInt.empty());
                }));

    desk.awaitNoneLive();

    assertThat(desk.effects()).containsExactly("\"a\"", "\"b\"");
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.job_attempt")).isZero();
    assertThat(desk.tryEnqueue(Desk.job(1).withUnique(key)))
        .isInstanceOf(EnqueueResult.Created.class);
  }

  @Test
  void effectsThatCancelAllJobsOfTheirKindCancelTheirOwn() {
    desk.enqueueMany(1);
    for (int i = 0; i < 3; i++) {
      desk.enqueue(Desk.job("\"other\"").at(LATER));
    }
    desk.start(
        jobs,
        Desk.worker(1),
        (payload, job) ->
            Outcome.Done.writing(
                c -> {
                  Sql.execute(c, "INSERT INTO effect VALUES (?)", payload);
                  jobs.cancelAll(c, Optional.empty(), JobFilter.ALL, 100);
                }));

    desk.awaitNoneLive();

    assertThat(desk.effects()).containsExactly("0");
  }

  @Test
  void aJobWhoseEffectsEditItRunsAsEdited() {
    desk.enqueue(Desk.job("\"before\"").inLane("lane"));
    desk.enqueue(Desk.job("\"next\"").inLane("lane"));
    AtomicInteger attempts = new AtomicInteger();
    desk.start(
        jobs,
        Desk.worker(2),
        (payload, job) -> {
          attempts.accumulateAndGet(job.attempt(), Math::max);
          return Outcome.Done.writing(
              c -> {
                Sql.execute(c, "INSERT INTO effect VALUES (?)", payload);
                if (payload.equals("\"before\"")) {
                  jobs.payload(c, job.id(), OptionalInt.empty(), "\"after\"");
                }
              });
        });

    desk.awaitNoneLive();

    assertThat(desk.effects()).containsExactly("\"before\"", "\"after\"", "\"next\"");
    assertThat(attempts).as("none is counted as failed").hasValue(1);
  }

  @Test
  void aJobWhoseEffectsPutItOffWaitsAndIsNoLongerMarked() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    JobId id = desk.enqueue(Desk.job("\"a\""));
    desk.start(
        jobs,
        Desk.worker(1).withMarkAfter(Duration.ofMillis(10)),
        (payload, job) -> {
          assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
          return Outcome.Done.writing(
              c -> {
                Sql.execute(c, "INSERT INTO effect VALUES (?)", payload);
                jobs.runAt(c, job.id(), OptionalInt.empty(), LATER);
              });
        });
    Await.until("marked", () -> jobs.find(id).orElseThrow().state() == JobState.RUNNING);
    go.countDown();

    Await.until("put off", () -> jobs.find(id).orElseThrow().state() == JobState.SCHEDULED);

    assertThat(jobs.find(id).orElseThrow().due()).isEqualTo(LATER);
    assertThat(desk.effects()).containsExactly("\"a\"");
  }

  @Test
  void effectsThatCancelAJobThatSomebodyElseHasEditedAreNotWritten() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    JobId id = desk.enqueue(Desk.job("\"before\""));
    desk.start(
        jobs,
        Desk.worker(1),
        (payload, job) -> {
          begun.countDown();
          assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
          return Outcome.Done.writing(
              c -> {
                Sql.execute(c, "INSERT INTO effect VALUES (?)", payload);
                jobs.cancel(c, job.id(), OptionalInt.empty());
              });
        });
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    desk.transactor().run(c -> jobs.payload(c, id, OptionalInt.empty(), "\"after\""));
    go.countDown();

    desk.awaitNoneLive();

    assertThat(desk.effects()).containsExactly("\"after\"");
  }

  @Test
  void effectsThatCancelTheirJobAtAStaleWorkerAreNotWritten() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    JobId id = desk.enqueue(Desk.job("\"a\""));
    Worker stale =
        desk.start(
            jobs,
            // The next heartbeat, which would tell it, comes after the test.
            Desk.worker(1).withLease(Desk.LONG, Desk.LONG.dividedBy(2)),
            (payload, job) -> {
              begun.countDown();
              assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
              return Outcome.Done.writing(
                  c -> {
                    Sql.execute(c, "INSERT INTO effect VALUES (?)", payload);
                    jobs.cancel(c, job.id(), OptionalInt.empty());
                  });
            });
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    database.execute(
        "UPDATE lockstep.shard SET epoch = epoch + 1, owner = gen_random_uuid() WHERE shard = "
            + id.shard());
    go.countDown();

    Await.until("it knows", () -> stale.ownedShards() == Desk.SHARDS - 1);

    assertThat(desk.effects()).isEmpty();
    assertThat(jobs.find(id).orElseThrow().version()).isEqualTo(1);
  }
}
