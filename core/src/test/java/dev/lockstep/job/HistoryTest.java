package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What was done can be looked up, a day at a time, and is dropped a day at a time. */
class HistoryTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  @Test
  void aJobThatIsDoneIsInTheHistoryWhenOneIsKept() {
    Jobs jobs = new Jobs(desk.transactor(), Desk.config().withHistoryDays(7));
    JobId id = desk.enqueue(Desk.job(1));
    desk.start(jobs, Desk.worker(1), desk::note);

    desk.awaitNoneLive();

    Job done = jobs.find(id).orElseThrow();
    assertThat(done.state()).isEqualTo(JobState.DONE);
    assertThat(done.payload()).isEqualTo("1");
    assertThat(done.endedAt()).isPresent();
  }

  @Test
  void withoutHistoryNothingIsLeft() {
    JobId id = desk.enqueue(Desk.job(1));
    desk.start(1, desk::note);

    desk.awaitNoneLive();

    assertThat(desk.jobs().find(id)).isEmpty();
  }

  @Test
  void whatWentWrongBeforeAJobWasDoneIsKeptWithItAndNoLonger() {
    Jobs jobs = new Jobs(desk.transactor(), Desk.config().withHistoryDays(2));
    JobId id = desk.enqueue(Desk.job(1));
    desk.start(
        jobs,
        Desk.worker(1),
        (payload, job) -> job.attempt() < 3 ? new Outcome.Retry("not yet") : Outcome.done());
    desk.awaitNoneLive();

    assertThat(jobs.attempts(id)).extracting(Job.Attempt::error).containsOnly("not yet").hasSize(2);
    jobs.maintain();
    assertThat(jobs.attempts(id)).hasSize(2);
    JobId waiting = desk.enqueue(Desk.job(2).at(Instant.now().plusSeconds(9_999)));
    database.execute(
        """
        UPDATE lockstep.job_attempt SET at = now() - interval '4 days';
        INSERT INTO lockstep.job_attempt (shard, id, attempt, at, error)
        SELECT shard, id, 1, now() - interval '4 days', 'old' FROM lockstep.job""");
    jobs.maintain();
    assertThat(jobs.attempts(id)).as("as long as the job is in the history").hasSize(2);
    database.execute("UPDATE lockstep.job_history SET finished_at = now() - interval '4 days'");
    jobs.maintain();
    assertThat(jobs.attempts(id)).isEmpty();
    assertThat(jobs.attempts(waiting)).as("of a live job, however old").hasSize(1);
  }

  @Test
  void partitionsAreMadeAheadAndDroppedWhenTheyAreTooOld() {
    database.execute(
        """
        CREATE TABLE lockstep.job_history_20010101 PARTITION OF lockstep.job_history
        FOR VALUES FROM ('2001-01-01 00:00:00+00') TO ('2001-01-02 00:00:00+00')""");

    new Jobs(desk.transactor(), Desk.config().withHistoryDays(1)).maintain();
    new Jobs(desk.transactor(), Desk.config().withHistoryDays(1)).maintain();

    List<String> partitions =
        database.query(
            """
            SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent = 'lockstep.job_history'::regclass""",
            row -> row.getString(1));
    assertThat(partitions).doesNotContain("job_history_20010101").contains("job_history_rest");
    // One more if a day ends meanwhile.
    assertThat(partitions.stream().filter(name -> name.matches("job_history_\\d{8}")))
        .hasSizeBetween(4, 5);
  }
}
