package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a handler can say, and what becomes of the job. */
class OutcomesTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  @Test
  void aJobThatFailsIsTriedAgainAndCountsItsAttempts() {
    desk.enqueue(Desk.job(1));
    desk.start(
        1,
        (payload, job) -> {
          if (job.attempt() < 3) {
            throw new IllegalStateException("attempt " + job.attempt());
          }
          return desk.note("done at " + job.attempt(), job);
        });

    desk.awaitNoneLive();

    assertThat(desk.ran).containsExactly("done at 3");
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.job_attempt")).isZero();
  }

  @Test
  void afterItsLastAttemptAJobIsADeadLetterWithEveryError() {
    JobId id = desk.enqueue(Desk.job(1).withMaxAttempts(3));
    desk.start(1, (payload, job) -> new Outcome.Retry("error " + job.attempt()));

    desk.awaitNoneLive();

    Job dead = desk.jobs().find(id).orElseThrow();
    assertThat(dead.state()).isEqualTo(JobState.DEAD);
    assertThat(dead.attempts()).isEqualTo(3);
    assertThat(dead.reason()).contains("Failed 3 times: error 3");
    assertThat(desk.jobs().attempts(id))
        .extracting(Job.Attempt::error)
        .containsExactly("error 1", "error 2", "error 3");
  }

  @Test
  void deadLettersAreReplayedOneOrAllThatMatch() {
    AtomicBoolean fail = new AtomicBoolean(true);
    desk.start(2, (payload, job) -> fail.get() ? new Outcome.Dead("no") : desk.note(payload, job));
    JobId one = desk.enqueue(Desk.job("{\"to\": \"ann\"}"));
    desk.enqueue(Desk.job("{\"to\": \"bob\"}"));
    desk.enqueue(Desk.job("{\"to\": \"bob\", \"n\": 2}"));
    Await.until("all dead", () -> dead() == 3);
    fail.set(false);

    boolean first = desk.transactor().call(c -> desk.jobs().replay(c, one));
    boolean second = desk.transactor().call(c -> desk.jobs().replay(c, one));
    assertThat(first).isTrue();
    assertThat(second).isFalse();
    Await.until("one is done", () -> desk.ran.contains("{\"to\": \"ann\"}"));
    assertThat(dead()).isEqualTo(2);
    JobFilter bobs = JobFilter.ALL.inQueue(Desk.QUEUE).ofKind(Desk.KIND).containing("bob");
    assertThat(desk.jobs().list(JobState.DEAD, bobs, Optional.empty(), 10)).hasSize(2);
    int replayed = desk.transactor().call(c -> desk.jobs().replayAll(c, bobs, 10));
    assertThat(replayed).isEqualTo(2);
    Await.until("all done", () -> desk.ran.size() == 3);
    desk.awaitNoneLive();
    assertThat(dead()).isZero();
  }

  @Test
  void deadLettersThatNobodyWantsAreRemovedWithTheirErrors() {
    desk.start(2, (payload, job) -> new Outcome.Retry("no"));
    desk.enqueue(Desk.job("{\"to\": \"ann\"}").withMaxAttempts(2));
    desk.enqueue(Desk.job("{\"to\": \"bob\"}").withMaxAttempts(2));
    Await.until("all dead", () -> dead() == 2);
    JobFilter bobs = JobFilter.ALL.inQueue(Desk.QUEUE).containing("bob");

    int young = desk.transactor().call(c -> remove(c, JobFilter.ALL, Duration.ofDays(1)));
    int old = desk.transactor().call(c -> remove(c, bobs, Duration.ZERO));

    assertThat(young).as("not dead for long enough").isZero();
    assertThat(old).isEqualTo(1);
    List<Job> left = desk.jobs().list(JobState.DEAD, JobFilter.ALL, Optional.empty(), 10);
    assertThat(left).extracting(Job::payload).containsExactly("{\"to\": \"ann\"}");
    assertThat(desk.jobs().attempts(left.get(0).id())).as("hers are kept").hasSize(2);
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.job_attempt")).isEqualTo(2);
  }

  private int remove(Connection connection, JobFilter filter, Duration olderThan) {
    return desk.jobs().removeDead(connection, filter, olderThan, 10);
  }

  @Test
  void aJobWhoseRowMovedWhileItRanIsDoneAllTheSame() {
    desk.enqueueMany(20);
    desk.start(
        4,
        (payload, job) -> {
          // As a mark does: another place in the table, and the same version.
          database.execute(
              "UPDATE lockstep.job SET crashes = crashes WHERE id = '" + job.id() + "'");
          return desk.note(payload, job);
        });

    desk.awaitNoneLive();

    assertThat(desk.ran).hasSize(20).doesNotHaveDuplicates();
  }

  @Test
  void aSnoozeCountsNoAttempt() {
    AtomicInteger runs = new AtomicInteger();
    desk.enqueue(Desk.job(1).withMaxAttempts(1));
    desk.start(
        1,
        (payload, job) ->
            runs.incrementAndGet() < 4
                ? new Outcome.Snooze(Duration.ofMillis(1))
                : desk.note("attempt " + job.attempt(), job));

    desk.awaitNoneLive();

    assertThat(desk.ran).containsExactly("attempt 1");
  }

  @Test
  void aRetryAtATimeWaitsForIt() {
    JobId id = desk.enqueue(Desk.job(1));
    desk.start(1, (payload, job) -> new Outcome.Retry("later", Optional.of(Duration.ofHours(1))));

    Await.until("failed once", () -> !desk.jobs().attempts(id).isEmpty());

    Job job = desk.jobs().find(id).orElseThrow();
    assertThat(job.state()).isEqualTo(JobState.SCHEDULED);
    assertThat(
            database.queryLong(
                "SELECT count(*) FROM lockstep.job WHERE due > now() + interval '55 minutes'"))
        .isEqualTo(1);
  }

  @Test
  void aJobThatCancelsItselfIsGone() {
    JobId id = desk.enqueue(Desk.job(1));
    desk.start(1, (payload, job) -> new Outcome.Cancel());

    desk.awaitNoneLive();

    assertThat(desk.jobs().find(id)).isEmpty();
  }

  @Test
  void aKindWithoutAHandlerIsTriedAgainElsewhere() {
    JobId id = desk.enqueue(NewJob.of(Desk.QUEUE, "unknown", "1").withMaxAttempts(2));
    desk.start(1, desk::note);

    Await.until("dead", () -> dead() == 1);

    assertThat(desk.jobs().attempts(id)).hasSize(2).allMatch(a -> a.error().contains("no handler"));
  }

  @Test
  void effectsThatFailAreRolledBackAndTheJobIsTriedAgain() {
    desk.enqueue(Desk.job(1));
    desk.start(
        1,
        (payload, job) ->
            Outcome.Done.writing(
                connection -> {
                  Sql.execute(connection, "INSERT INTO effect VALUES (?)", "" + job.attempt());
                  if (job.attempt() == 1) {
                    throw new IllegalStateException("after the insert");
                  }
                }));

    desk.awaitNoneLive();

    assertThat(desk.effects()).containsExactly("2");
  }

  @Test
  void aPayloadIsReadAsTheTypeOfItsHandler() {
    desk.enqueue(Desk.job(41));
    Worker worker =
        desk.jobs()
            .worker(
                Desk.worker(1),
                Handlers.none()
                    .on(Desk.KIND, Integer::valueOf, (n, job) -> desk.note("" + (n + 1), job)));
    try (worker) {
      Await.until("ran", () -> desk.ran.contains("42"));
      desk.awaitNoneLive();
    }
  }

  @Test
  void aCancelledJobsResultIsRefused() {
    JobId id = desk.enqueue(Desk.job(1));
    Worker worker =
        desk.start(
            1,
            (payload, job) -> {
              desk.transactor().run(c -> desk.jobs().cancel(c, id, OptionalInt.empty()));
              return Desk.effect(payload, job);
            });

    desk.awaitNoneLive();
    worker.close();

    assertThat(desk.effects()).isEmpty();
  }

  private static long dead() {
    return database.queryLong("SELECT count(*) FROM lockstep.job_dead");
  }
}
