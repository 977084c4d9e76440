package dev.lockstep.server.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.job.Job;
import dev.lockstep.job.JobFilter;
import dev.lockstep.job.JobId;
import dev.lockstep.job.JobState;
import dev.lockstep.job.JobsConfig;
import dev.lockstep.job.NewJob;
import dev.lockstep.job.Outcome;
import dev.lockstep.job.QueueConfig;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the domains hand over is done, on any node, and what recurs recurs. */
@Timeout(120)
class JobRunnerTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  private static final QueueConfig MAIL = QueueConfig.of("mail", 2);

  private final Transactor transactor = new Transactor(database.dataSource());
  private final List<JobRunner> nodes = new ArrayList<>();
  private final Queue<String> runs = new ConcurrentLinkedQueue<>();

  @BeforeEach
  void empty() {
    database.execute(
        """
        TRUNCATE lockstep.job, lockstep.job_away, lockstep.job_unique, lockstep.job_attempt, lockstep.job_dead,
          lockstep.job_history
        """);
  }

  @AfterEach
  void close() {
    nodes.forEach(JobRunner::close);
  }

  @Test
  void everyDomainsJobsAreRunAndToldOf() throws Exception {
    Semaphore ran = new Semaphore(0);
    BackgroundJobs one =
        BackgroundJobs.none()
            .serving(MAIL)
            .on(
                "letter",
                Integer::valueOf,
                (number, job) -> {
                  ran.release(number);
                  return Outcome.done();
                });
    BackgroundJobs another =
        BackgroundJobs.none()
            .serving(QueueConfig.of("bills", 1))
            .on(
                "bill",
                (json, job) -> {
                  ran.release();
                  return new Outcome.Dead("never");
                });
    JobRunner node = node();
    node.start(List.of(one, another));

    transactor.run(
        c ->
            node.jobs()
                .enqueueAll(
                    c,
                    List.of(NewJob.of("mail", "letter", "2"), NewJob.of("bills", "bill", "{}"))));

    ran.acquire(3);
    node.close();
    assertThat(runs).containsExactlyInAnyOrder("mail letter DONE", "bills bill DEAD");
    assertThat(node.jobs().list(JobState.DONE, JobFilter.ALL, Optional.empty(), 10))
        .extracting(Job::kind)
        .containsExactly("letter");
    assertThat(node.queues())
        .extracting(QueueConfig::name)
        .containsExactlyInAnyOrder("lockstep-schedules", "upkeep", "mail", "bills");
  }

  @Test
  void whatRecursIsOneJobHoweverManyNodes() throws Exception {
    Semaphore ran = new Semaphore(0);
    AtomicInteger together = new AtomicInteger();
    BackgroundJobs duties =
        BackgroundJobs.none()
            .every(
                Duration.ofMillis(5),
                "sweep",
                job -> {
                  assertThat(together.incrementAndGet()).isEqualTo(1);
                  together.decrementAndGet();
                  ran.release();
                });
    for (int i = 0; i < 3; i++) {
      JobRunner node = node();
      node.start(List.of(duties));
      node.ensureRecurring();
    }

    ran.acquire(10);

    assertThat(count("lockstep.job WHERE kind = 'sweep'")).isEqualTo(1);
    assertThat(runs).doesNotContain("upkeep sweep RETRY");
  }

  @Test
  void whatRecursGoesOnAfterFailuresAndComesBackWhenSomebodyCancelledIt() throws Exception {
    Semaphore ran = new Semaphore(0);
    BackgroundJobs duties =
        BackgroundJobs.none()
            .every(
                Duration.ofMillis(5),
                "sweep",
                job -> {
                  ran.release();
                  throw new IllegalStateException("not today");
                });
    JobRunner node = node();
    node.start(List.of(duties));

    ran.acquire(4);
    JobId job = onlyJob();
    assertThat(node.jobs().attempts(job))
        .isNotEmpty()
        .allMatch(attempt -> attempt.error().contains("not today"));

    transactor.run(c -> node.jobs().cancel(c, job, OptionalInt.empty()));
    node.ensureRecurring();
    assertThat(onlyJob()).isNotEqualTo(job);
    ran.drainPermits();
    ran.acquire(2);
  }

  @Test
  void closingWaitsForWhatRuns() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    JobRunner node = node();
    node.start(
        List.of(
            BackgroundJobs.none()
                .serving(MAIL)
                .on(
                    "letter",
                    (json, job) -> {
                      begun.countDown();
                      mayEnd.await();
                      return Outcome.done();
                    })));
    transactor.run(c -> node.jobs().enqueue(c, NewJob.of("mail", "letter", "{}")));
    begun.await();

    Thread closing = new Thread(node::close);
    closing.start();
    mayEnd.countDown();
    closing.join();

    assertThat(runs).containsExactly("mail letter DONE");
    assertThat(count("lockstep.job")).isZero();
    assertThat(count("lockstep.shard_member")).as("the node has left").isZero();
  }

  @Test
  void aNodeStartsOnce() {
    JobRunner node = node();
    node.start(List.of());
    assertThatThrownBy(() -> node.start(List.of())).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> BackgroundJobs.none().every(Duration.ZERO, "sweep", job -> {}))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private JobRunner node() {
    JobRunner node =
        new JobRunner(
            transactor,
            JobsConfig.DEFAULT.withHistoryDays(7),
            "test",
            Duration.ofSeconds(2),
            spec -> {
              throw new IllegalArgumentException(spec);
            },
            NewJob::at,
            Optional.of(database.dataSource()),
            (queue, kind, ending, took) -> runs.add(queue + " " + kind + " " + ending));
    nodes.add(node);
    return node;
  }

  private static JobId onlyJob() {
    List<String> ids = database.query("SELECT id::text FROM lockstep.job", row -> row.getString(1));
    assertThat(ids).hasSize(1);
    return JobId.of(ids.get(0));
  }

  private static long count(String table) {
    return database.queryLong("SELECT count(*) FROM " + table);
  }
}
