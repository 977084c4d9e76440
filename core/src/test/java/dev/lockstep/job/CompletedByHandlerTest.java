package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.LockTimeout;
import dev.lockstep.shard.OwningProcess;
import dev.lockstep.testkit.ChildJvm;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A handler completes its job in a transaction that it begins and ends itself, as a framework does.
 */
class CompletedByHandlerTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private final Queue<Integer> attempts = new ConcurrentLinkedQueue<>();

  /** What a handler does between its effect and its commit. */
  @FunctionalInterface
  private interface Ending {
    Outcome end(Connection connection, JobContext job) throws Exception;
  }

  /** A handler whose transaction writes the effect. */
  private JobHandler<String> handler(Ending ending) {
    return (payload, job) -> {
      attempts.add(job.attempt());
      try (Connection connection = database.connection()) {
        connection.setAutoCommit(false);
        try {
          Sql.execute(connection, "INSERT INTO effect VALUES (?)", payload);
          return ending.end(connection, job);
        } finally {
          // Nothing is left to roll back after a commit.
          connection.rollback();
          connection.setAutoCommit(true);
        }
      }
    };
  }

  private static Outcome complete(Connection connection, JobContext job) throws SQLException {
    job.complete(connection);
    connection.commit();
    return Outcome.done();
  }

  @Test
  void theEffectHappensAndTheJobEndsTogether() {
    NewJob.UniqueKey key = NewJob.UniqueKey.whileLive("key");
    desk.enqueue(Desk.job("\"a\"").inLane("lane").withUnique(key));
    desk.enqueue(Desk.job("\"b\"").inLane("lane"));
    desk.start(2, handler(CompletedByHandlerTest::complete));

    desk.awaitNoneLive();

    assertThat(desk.effects()).containsExactly("\"a\"", "\"b\"");
    assertThat(attempts).containsExactly(1, 1);
    assertThat(desk.tryEnqueue(Desk.job(1).withUnique(key)))
        .isInstanceOf(EnqueueResult.Created.class);
  }

  @Test
  void itIsKeptInTheHistoryLikeAnyOther() {
    Jobs jobs = new Jobs(desk.transactor(), Desk.config().withHistoryDays(2));
    JobId id = desk.enqueue(Desk.job("\"a\""));
    desk.start(jobs, Desk.worker(1), handler(CompletedByHandlerTest::complete));

    desk.awaitNoneLive();

    assertThat(jobs.find(id).orElseThrow().state()).isEqualTo(JobState.DONE);
  }

  @Test
  void ifItsTransactionRollsBackBothAreUndoneAndTheJobRunsAgain() {
    desk.enqueue(Desk.job("\"a\""));
    desk.start(
        1,
        handler(
            (connection, job) -> {
              job.complete(connection);
              if (job.attempt() == 1) {
                throw new IllegalStateException("between completing and committing");
              }
              connection.commit();
              return Outcome.done();
            }));

    desk.awaitNoneLive();

    assertThat(desk.effects()).containsExactly("\"a\"");
    assertThat(attempts).containsExactly(1, 2);
  }

  @Test
  void doneDoesNotCountIfTheTransactionDidNotCommit() {
    desk.enqueue(Desk.job("\"a\""));
    desk.start(
        1,
        handler(
            (connection, job) -> {
              job.complete(connection);
              if (job.attempt() > 1) {
                connection.commit();
              }
              return Outcome.done();
            }));

    desk.awaitNoneLive();

    assertThat(desk.effects()).containsExactly("\"a\"");
    assertThat(attempts).containsExactly(1, 2);
  }

  /** As when the answer to COMMIT is lost. */
  @Test
  void aFailureAfterTheCommitRunsNothingAgain() {
    desk.enqueue(Desk.job("\"a\"").inLane("lane"));
    desk.enqueue(Desk.job("\"b\"").inLane("lane"));
    desk.start(
        1,
        handler(
            (connection, job) -> {
              Outcome unused = complete(connection, job);
              throw new SQLException("the answer is lost", "08006");
            }));

    desk.awaitNoneLive();
    Await.until("both have ended", () -> attempts.size() == 2);

    assertThat(desk.effects()).containsExactly("\"a\"", "\"b\"");
  }

  @Test
  void aJobThatWasChangedMeanwhileIsNotCompleted() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    JobId id = desk.enqueue(Desk.job("\"before\""));
    Jobs jobs = desk.jobs();
    desk.start(
        jobs,
        Desk.worker(1),
        handler(
            (connection, job) -> {
              begun.countDown();
              assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
              try {
                return complete(connection, job);
              } catch (RuntimeException e) {
                thrown.set(e);
                throw e;
              }
            }));
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    desk.transactor().run(c -> jobs.payload(c, id, OptionalInt.empty(), "\"after\""));
    go.countDown();

    desk.awaitNoneLive();

    assertThat(thrown.get()).isInstanceOf(StaleJob.class).hasMessageContaining("Roll back");
    assertThat(desk.effects()).containsExactly("\"after\"");
  }

  @Test
  void aLockedJobIsRolledBackWithoutCountingAnAttemptAndTheCallersLockTimeoutStays()
      throws Exception {
    JobId id = desk.enqueue(Desk.job("\"a\""));
    Queue<String> timeouts = new ConcurrentLinkedQueue<>();
    CountDownLatch refused = new CountDownLatch(1);
    Jobs jobs = desk.jobs();
    try (Connection somebody = database.connection()) {
      somebody.setAutoCommit(false);
      Sql.execute(somebody, "SELECT 1 FROM lockstep.job FOR UPDATE");
      desk.start(
          jobs,
          Desk.worker(1),
          handler(
              (connection, job) -> {
                Sql.execute(connection, "SET LOCAL lock_timeout = '7s'");
                try {
                  job.complete(connection);
                } catch (LockTimeout e) {
                  refused.countDown();
                  throw e;
                }
                timeouts.add(Sql.text(connection, "SHOW lock_timeout"));
                connection.commit();
                return Outcome.done();
              }));
      assertThat(refused.await(30, TimeUnit.SECONDS)).isTrue();
      somebody.rollback();
      somebody.setAutoCommit(true);
    }

    desk.awaitNoneLive();

    assertThat(desk.effects()).containsExactly("\"a\"");
    assertThat(timeouts).containsExactly("7s");
    assertThat(attempts).containsOnly(1);
    assertThat(jobs.attempts(id)).isEmpty();
  }

  @Test
  void withoutATransactionItIsRefused() throws Exception {
    desk.enqueue(Desk.job("\"a\""));
    CountDownLatch refused = new CountDownLatch(1);
    desk.start(
        1,
        (payload, job) -> {
          if (job.attempt() == 1) {
            try (Connection connection = database.connection()) {
              assertThatIllegalStateException()
                  .isThrownBy(() -> job.complete(connection))
                  .withMessageContaining("auto-commit");
            }
            refused.countDown();
            throw new IllegalStateException("retry");
          }
          return desk.note(payload, job);
        });

    assertThat(refused.await(30, TimeUnit.SECONDS)).isTrue();
    desk.awaitNoneLive();
  }

  @Test
  void aJobWhoseShardWasHandedOverIsCompletedByItsMark() throws Exception {
    CountDownLatch begun = new CountDownLatch(Desk.SHARDS);
    CountDownLatch go = new CountDownLatch(1);
    desk.enqueueMany(Desk.SHARDS);
    Worker first =
        desk.start(
            Desk.SHARDS,
            handler(
                (connection, job) -> {
                  // Its transaction begins once the shards have gone.
                  connection.rollback();
                  begun.countDown();
                  assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
                  Sql.execute(connection, "INSERT INTO effect VALUES (?)", job.payload());
                  return complete(connection, job);
                }));
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    Worker second = desk.start(4, desk::note);
    Await.until(
        "half are the other's",
        () -> first.ownedShards() == Desk.SHARDS / 2 && second.ownedShards() == Desk.SHARDS / 2);
    go.countDown();

    desk.awaitNoneLive();

    assertThat(desk.effects()).containsExactlyInAnyOrder("0", "1", "2", "3", "4", "5", "6", "7");
    assertThat(desk.ran).isEmpty();
  }

  @Test
  void aWorkerThatDiesBeforeItsCommitLeavesTheJobToAnother() throws Exception {
    desk.enqueue(Desk.job("\"complete and wait\""));
    try (ChildJvm dying = WorkingProcess.start(database)) {
      dying.awaitLine("completing");
      dying.kill();
    }
    desk.age(WorkingProcess.NODE);
    desk.start(2, handler(CompletedByHandlerTest::complete));

    desk.awaitNoneLive();

    assertThat(desk.effects()).containsExactly("\"complete and wait\"");
  }

  @Test
  void aWorkerThatWasStoppedForLongerThanItsLeaseIsRefused() throws Exception {
    desk.enqueue(Desk.job("\"wait and complete\""));
    try (ChildJvm stale = WorkingProcess.start(database)) {
      stale.awaitLine(line -> line.startsWith("begun"));
      OwningProcess.pauseBetweenTransactions(database, stale);
      desk.age(WorkingProcess.NODE);
      desk.start(2, handler(CompletedByHandlerTest::complete));
      desk.awaitNoneLive();

      stale.send("go");
      stale.resume();

      stale.awaitLine(line -> line.startsWith("stale: Job"));
      assertThat(desk.effects()).hasSize(1);
    }
  }

  @Test
  void anEndedHandlersJobCannotBeCompleted() {
    CompletableFuture<JobContext> kept = new CompletableFuture<>();
    desk.enqueue(Desk.job("\"a\""));
    desk.start(
        1,
        (payload, job) -> {
          kept.complete(job);
          return new Outcome.Snooze(Outcome.LONGEST);
        });
    Await.until(
        "it is put off",
        () -> !desk.jobs().list(JobState.SCHEDULED, JobFilter.ALL, Optional.empty(), 5).isEmpty());

    assertThatThrownBy(() -> desk.transactor().run(kept.join()::complete))
        .isInstanceOf(StaleJob.class);
    assertThat(desk.live()).isEqualTo(1);
  }
}
