package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.job.JobsListener.Reader;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a listener of jobs hears of real reads, real results and real faults. */
class JobsListenerTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private record Read(Reader reader, int rows, Duration took) {}

  private final Queue<Read> reads = new ConcurrentLinkedQueue<>();
  private final AtomicInteger accepted = new AtomicInteger();
  private final AtomicInteger stale = new AtomicInteger();
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch go = new CountDownLatch(1);

  private final JobsListener listener =
      new JobsListener() {
        @Override
        public void onRead(Reader reader, int rows, Duration took) {
          reads.add(new Read(reader, rows, took));
        }

        @Override
        public void onResults(int written, int refused) {
          accepted.addAndGet(written);
          stale.addAndGet(refused);
        }
      };

  @Test
  void everyResultIsHeardOfOnce() {
    desk.enqueueMany(30);
    desk.start(
        jobs(desk.transactor()),
        Desk.worker(4),
        (payload, job) -> payload.endsWith("7") ? Desk.effect(payload, job) : Outcome.done());
    desk.awaitNoneLive();

    Await.until("all thirty are heard of", () -> accepted.get() == 30);
    assertThat(stale).hasValue(0);
    assertThat(reads).extracting(Read::reader).containsOnly(Reader.WORKER);
    assertThat(reads.stream().mapToInt(Read::rows).sum()).isGreaterThanOrEqualTo(30);
  }

  @Test
  void theResultOfAWorkerThatLostItsShardIsStale() throws Exception {
    loseTheShardBefore(Outcome.done());
  }

  /** Its effects are rolled back and the job is given back, which is no second result. */
  @Test
  void aResultWithEffectsOfAWorkerThatLostItsShardIsStaleOnce() throws Exception {
    loseTheShardBefore(
        Outcome.Done.writing(
            connection -> {
              try (Statement statement = connection.createStatement()) {
                statement.execute("INSERT INTO effect VALUES ('stale')");
              }
            }));
    assertThat(desk.effects()).isEmpty();
  }

  private void loseTheShardBefore(Outcome outcome) throws Exception {
    desk.enqueue(Desk.job("\"wait\""));
    Worker worker =
        desk.start(
            jobs(desk.transactor()),
            // It does not notice by itself, and so does not run the job again.
            Desk.worker(1).withLease(Desk.LONG, Duration.ofMinutes(4)),
            (payload, job) -> {
              begun.countDown();
              assertThat(go.await(60, TimeUnit.SECONDS)).isTrue();
              return outcome;
            });
    assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
    database.execute("UPDATE lockstep.shard SET epoch = epoch + 1 WHERE shard_group = 'job'");
    go.countDown();

    Await.until("it is heard of", () -> stale.get() > 0);
    worker.close();
    assertThat(stale).hasValue(1);
    assertThat(accepted).hasValue(0);
  }

  @Test
  void theResultOfAJobThatWasCancelledMeanwhileIsStale() throws Exception {
    JobId id = desk.enqueue(Desk.job("\"wait\""));
    desk.start(
        jobs(desk.transactor()),
        Desk.worker(1),
        (payload, job) -> {
          begun.countDown();
          assertThat(go.await(60, TimeUnit.SECONDS)).isTrue();
          return Outcome.done();
        });
    assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
    database.execute("DELETE FROM lockstep.job WHERE id = '" + id.value() + "'");
    go.countDown();

    Await.until("it is heard of", () -> stale.get() == 1);
    assertThat(accepted).hasValue(0);
  }

  @Test
  void aReadThatWaitsForALockedTableTakesAsLongAsThat() throws Exception {
    Worker worker = desk.start(jobs(desk.transactor()), Desk.worker(1), desk::note);
    Await.until("it has its shards", () -> worker.ownedShards() == Desk.SHARDS);
    // The first read that begins after that looks for what runs elsewhere, and not for due jobs.
    int before = reads.size();
    Await.until("it only reads", () -> reads.size() > before + 1);
    try (Connection holder = database.connection();
        Statement statement = holder.createStatement()) {
      holder.setAutoCommit(false);
      statement.execute("LOCK TABLE lockstep.job IN ACCESS EXCLUSIVE MODE");
      Await.until(
          "a read has waited for 250 ms, by the database's clock",
          () ->
              database.queryLong(
                      """
                      SELECT count(*) FROM pg_stat_activity
                      WHERE datname = current_database() AND wait_event_type = 'Lock'
                        AND query LIKE '%after_due%' AND query_start < now() - interval '250 ms'\
                      """)
                  > 0);
      holder.rollback();
    }
    Await.until(
        "a slow read is heard of",
        () -> reads.stream().anyMatch(one -> one.took().compareTo(Duration.ofMillis(200)) > 0));
  }

  @Test
  void whatIsReadForAClaimIsHeardOf() {
    desk.enqueueMany(3);
    Claims.Taken taken =
        jobs(desk.transactor())
            .claims()
            .claim(Desk.QUEUE, List.of(new ClaimAsk("ann", 3, Desk.LONG)));

    assertThat(taken.jobs().get(0)).hasSize(3);
    assertThat(reads).extracting(Read::reader).containsOnly(Reader.CLAIM);
    assertThat(reads.stream().mapToInt(Read::rows).sum()).isEqualTo(3);
  }

  @Test
  void claimsMarksAndResultsAreTransactionsWithNamesOfTheirOwn() throws Exception {
    Queue<String> labels = new ConcurrentLinkedQueue<>();
    Transactor transactor =
        new Transactor(
            database.dataSource(), TxOptions.DEFAULT, attempt -> labels.add(attempt.label()));
    Jobs jobs = jobs(transactor);
    jobs.claims().claim("elsewhere", List.of(new ClaimAsk("ann", 1, Desk.LONG)));
    assertThat(labels).containsOnlyOnce(JobsConfig.CLAIM_TRANSACTION);

    desk.enqueue(Desk.job("\"wait\""));
    desk.start(
        jobs,
        Desk.worker(1).withMarkAfter(Duration.ofMillis(10)),
        (payload, job) -> {
          assertThat(go.await(60, TimeUnit.SECONDS)).isTrue();
          return Outcome.done();
        });
    Await.until("it is marked", () -> labels.contains(JobsConfig.MARK_TRANSACTION));
    go.countDown();
    Await.until("it is done", () -> labels.contains(JobsConfig.RESULT_TRANSACTION));
  }

  private Jobs jobs(Transactor transactor) {
    return new Jobs(transactor, Desk.config().withListener(listener));
  }
}
