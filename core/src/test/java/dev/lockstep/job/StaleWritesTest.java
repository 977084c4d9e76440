package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.shard.Lease;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * G6: a worker whose shard has another owner, and that does not know it, changes nothing: whatever
 * it is that it writes.
 */
class StaleWritesTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  // The next heartbeat, which would tell it, comes after the test.
  private static final WorkerConfig UNAWARE =
      Desk.worker(2).withLease(Desk.LONG, Desk.LONG.dividedBy(2));

  @SuppressWarnings("ImmutableEnumChecker") // Outcomes are values.
  private enum Said {
    DONE(Outcome.done()),
    DONE_WITH_EFFECTS(
        Outcome.Done.writing(c -> Sql.execute(c, "INSERT INTO effect VALUES ('stale')"))),
    RETRY(new Outcome.Retry("no")),
    SNOOZE(new Outcome.Snooze(Duration.ofHours(1))),
    CANCEL(new Outcome.Cancel()),
    DEAD(new Outcome.Dead("no"));

    private final Outcome outcome;

    Said(Outcome outcome) {
      this.outcome = outcome;
    }

    /** As it is written: effects have run by then. */
    JobResult of(Task task) {
      Outcome written = outcome instanceof Outcome.Done ? Outcome.done() : outcome;
      return new JobResult(task, written, Duration.ofHours(1));
    }
  }

  @ParameterizedTest
  @EnumSource
  void aResultIsRefusedAndNothingOfItsLaneBegins(Said said) throws Exception {
    refused(said, desk.jobs(), 10);
  }

  @Test
  void aLastFailureBuriesNothing() throws Exception {
    refused(Said.RETRY, desk.jobs(), 1);
  }

  @Test
  void aResultThatIsKeptInHistoryIsRefused() throws Exception {
    refused(Said.DONE, new Jobs(desk.transactor(), Desk.config().withHistoryDays(1)), 10);
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.job_history")).isZero();
  }

  private void refused(Said said, Jobs jobs, int maxAttempts) throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    NewJob.UniqueKey key = NewJob.UniqueKey.whileLive("key");
    JobId id =
        desk.enqueue(
            Desk.job("\"first\"").inLane("lane").withUnique(key).withMaxAttempts(maxAttempts));
    desk.enqueue(Desk.job("\"second\"").inLane("lane"));
    Worker stale =
        desk.start(
            jobs,
            UNAWARE,
            (payload, job) -> {
              desk.ran.add(payload);
              begun.countDown();
              assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
              return said.outcome;
            });
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();

    hasAnotherOwner(id);
    go.countDown();

    Await.until("it knows", () -> stale.ownedShards() == Desk.SHARDS - 1);
    assertUntouched(id, Optional.empty());
    assertThat(desk.ran).containsExactly("\"first\"");
    assertThat(desk.effects()).isEmpty();
    assertThat(desk.tryEnqueue(Desk.job(1).withUnique(key)))
        .isEqualTo(new EnqueueResult.Duplicate(id));
  }

  @Test
  void aJobThatHasToBeMarkedFirstDoesNotBegin() {
    JobId other = desk.enqueue(Desk.job("\"other\""));
    Worker stale = desk.start(desk.jobs(), UNAWARE, desk::note);
    Await.until("it works", () -> desk.jobs().find(other).isEmpty());
    database.execute("UPDATE lockstep.shard SET epoch = epoch + 1, owner = gen_random_uuid()");

    desk.transactor()
        .run(
            c -> {
              desk.jobs().enqueue(c, Desk.job("\"suspect\""));
              Sql.execute(c, "UPDATE lockstep.job SET crashes = 1");
            });

    Await.until("it knows", () -> stale.ownedShards() < Desk.SHARDS);
    assertThat(desk.ran).containsExactly("\"other\"");
    assertThat(database.queryLong("SELECT count(keeper) FROM lockstep.job")).isZero();
  }

  @Test
  void neitherAMarkNorASuspicionIsWritten() {
    JobId id = desk.enqueue(Desk.job(1));
    desk.withLease(
        id,
        (lease, shards) -> {
          Task task = desk.read(lease);
          hasAnotherOwner(id);

          assertThat(desk.mark(task)).isEmpty();
          new ShardRecovery(desk.transactor(), shards, ids(), 3).suspectRunningJobs(lease);

          assertUntouched(id, Optional.empty());
        });
  }

  @Test
  void aJobThatWasCutOffIsNeitherCountedNorBuried() {
    JobId id = desk.enqueue(Desk.job(1));
    database.execute("UPDATE lockstep.job SET keeper = '" + STRANGER + "'");
    desk.withLease(
        id,
        (lease, shards) -> {
          List<JobRow> marked =
              new JobReads(desk.transactor(), JobsListener.NONE).marked(List.of(lease));
          assertThat(marked).hasSize(1);
          hasAnotherOwner(id);

          new ShardRecovery(desk.transactor(), shards, ids(), 3).countLost(lease, marked);
          new ShardRecovery(desk.transactor(), shards, ids(), 1).countLost(lease, marked);

          assertUntouched(id, Optional.of(STRANGER));
        });
  }

  private static final String STRANGER = "00000000-0000-4000-8000-000000000001";

  @ParameterizedTest
  @EnumSource
  void aResultAfterTheHandOverIsRefusedWhenTheRowNamesAnotherNode(Said said) {
    JobId id = desk.enqueue(Desk.job(1));
    desk.withLease(
        id,
        (lease, shards) -> {
          Task task = desk.read(lease);
          database.execute("UPDATE lockstep.job SET keeper = '" + STRANGER + "'");

          assertThat(desk.results(results -> write(results, lease, said.of(task))))
              .containsExactly(id);

          assertUntouched(id, Optional.of(STRANGER));
        });
  }

  private static Set<JobId> write(ResultBatch results, Lease lease, JobResult ended)
      throws SQLException {
    return results.write(Map.of(new ResultFence(lease, true), List.of(ended)), true).refused();
  }

  private static JobIds ids() {
    return new JobIds(Clock.systemUTC(), Desk.SHARDS);
  }

  private static void hasAnotherOwner(JobId id) {
    database.execute(
        "UPDATE lockstep.shard SET epoch = epoch + 1, owner = gen_random_uuid() WHERE shard = "
            + id.shard());
  }

  private void assertUntouched(JobId id, Optional<String> keeper) {
    assertThat(
            database.query(
                """
                SELECT concat_ws(' ', version, attempts, crashes, wait_until, keeper, due <= now())
                FROM lockstep.job WHERE id = '%s'"""
                    .formatted(id),
                row -> row.getString(1)))
        .containsExactly("1 0 0 " + keeper.map(name -> name + " ").orElse("") + "t");
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.job_dead")).isZero();
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.job_attempt")).isZero();
  }
}
