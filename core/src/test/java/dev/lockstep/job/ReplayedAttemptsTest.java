package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A dead letter that is brought back keeps what went wrong before, and counts on from there. */
class ReplayedAttemptsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private final AtomicInteger runs = new AtomicInteger();

  @Test
  void attemptsStayWithAJobThatIsBroughtBackAndAreNumberedOn() {
    Worker worker = desk.start(1, this::fail);
    JobId id = desk.enqueue(Desk.job(1).withMaxAttempts(2));
    awaitDead(1);

    assertThat(desk.transactor().<Boolean>call(c -> desk.jobs().replay(c, id))).isTrue();
    assertThat(desk.jobs().attempts(id)).hasSizeGreaterThanOrEqualTo(2);
    awaitDead(1);
    assertThat(desk.transactor().<Integer>call(c -> desk.jobs().replayAll(c, JobFilter.ALL, 10)))
        .isEqualTo(1);
    awaitDead(1);
    worker.close();

    assertThat(desk.jobs().attempts(id))
        .extracting(one -> one.number() + ": " + one.error())
        .containsExactly(
            "1: error 1", "2: error 2", "3: error 3", "4: error 4", "5: error 5", "6: error 6");
    Job dead = desk.jobs().find(id).orElseThrow();
    assertThat(dead.attempts()).as("of the last two it was given").isEqualTo(2);
    assertThat(dead.maxAttempts()).isEqualTo(2);
  }

  @Test
  void theyEndWithTheJobWhenNoHistoryIsKept() {
    desk.start(1, (payload, job) -> runs.get() < 2 ? fail(payload, job) : desk.note(payload, job));
    JobId id = desk.enqueue(Desk.job(1).withMaxAttempts(2));
    awaitDead(1);

    desk.transactor().run(c -> desk.jobs().replay(c, id));
    desk.awaitNoneLive();
    Await.until("it has run", () -> desk.ran.size() == 1);

    assertThat(database.queryLong("SELECT count(*) FROM lockstep.job_attempt")).isZero();
  }

  @Test
  void theyStayWithAJobThatIsDoneWhileHistoryIsKept() {
    Jobs jobs = new Jobs(desk.transactor(), Desk.config().withHistoryDays(2));
    desk.start(
        jobs,
        Desk.worker(1),
        (payload, job) -> runs.get() < 3 ? fail(payload, job) : Outcome.done());
    JobId id = desk.enqueue(Desk.job(1).withMaxAttempts(2));
    awaitDead(1);

    desk.transactor().run(c -> jobs.replay(c, id));
    Await.until("done", () -> jobs.find(id).orElseThrow().state() == JobState.DONE);

    assertThat(jobs.attempts(id)).extracting(Job.Attempt::number).containsExactly(1, 2, 3);
  }

  @Test
  void anAttemptThatEndedWithItsWorkerIsNumberedOn() {
    JobId id = desk.enqueue(Desk.job(1));
    database.execute(
        """
        INSERT INTO lockstep.job_attempt (shard, id, attempt, at, error)
        SELECT shard, id, n, now(), 'before it was brought back'
        FROM lockstep.job, generate_series(1, 3) n;
        UPDATE lockstep.job SET keeper = gen_random_uuid(), crashes = 1, version = 5""");

    desk.start(1, desk::note);
    Await.until("it has run", () -> desk.ran.size() == 1);
    desk.awaitNoneLive();
    assertThat(desk.jobs().find(id)).isEmpty();
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.job_attempt")).isZero();
  }

  private Outcome fail(String payload, JobContext job) {
    return new Outcome.Retry("error " + runs.incrementAndGet());
  }

  private void awaitDead(long count) {
    Await.until(
        "dead",
        () ->
            desk.live() == 0
                && database.queryLong("SELECT count(*) FROM lockstep.job_dead") == count);
  }
}
