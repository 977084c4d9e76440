package dev.lockstep.bench;

import dev.lockstep.job.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/** What Lockstep's jobs cost besides running: pickup, idling, space, and a full calendar. */
final class JobCosts implements Benchmark {
  private static final String PICKUP = "Lockstep, from COMMIT to start, idle queue";
  private static final String IDLE = "Lockstep, queries of an idle node";
  private static final int[] SCHEDULED = {10_000, 1_000_000, 10_000_000};
  private static final int SCHEDULED_ROUNDS = 3;
  private static final Drain.Time SCHEDULED_TIME = new Drain.Time(1, 2);
  private static final int BLOAT_STEP = 250_000;
  private static final int BLOAT_STEPS = 4;
  private static final int BLOAT_BATCH = 10_000;
  // Longer than a worker's poll and heartbeat intervals.
  private static final int HEARD_SECONDS = 3;
  private static final int IDLE_SECONDS = 10;
  private static final long START_SECONDS = 30;

  private final BenchDatabase database;
  private final int seconds;
  private final Report report;
  private final LockstepQueue queue;
  private final List<Double> sizesMb = new ArrayList<>();

  JobCosts(BenchRun run, LockstepQueue queue) {
    this.database = run.database();
    this.seconds = run.seconds();
    this.report = run.report();
    this.queue = queue;
  }

  @Override
  public void measure() throws Exception {
    pickup();
    idle();
    bloat();
    scheduled();
  }

  @Override
  public void aims() {
    Measured pickup = report.find(PICKUP, 1);
    report.atMost("p50 from commit to start in ms / 5 ms", pickup.p50Ms(), 5, 1);
    report.atMost("p99 from commit to start in ms / 25 ms", pickup.p99Ms(), 25, 1);
    DoubleSummaryStatistics claims =
        Arrays.stream(SCHEDULED)
            .mapToObj(size -> report.find(scheduled(size), LockstepQueue.CONCURRENCY))
            .collect(Collectors.summarizingDouble(Measured::perSecond));
    report.atMost(
        "cost of a claim, dearest / cheapest of 10 thousand, 1 million and 10 million scheduled",
        claims.getMax(),
        claims.getMin(),
        1.3);
    report.atMost("queries a second of an idle node / 2", report.find(IDLE, 1).perSecond(), 2, 1);
    report.atMost(
        "size of table and indexes after a million jobs / after half a million",
        sizesMb.get(BLOAT_STEPS - 1),
        sizesMb.get(BLOAT_STEPS / 2 - 1),
        1.1);
  }

  /** One job at a time, each into an idle queue: from sending COMMIT to its start. */
  @SuppressWarnings("try") // The worker only has to be there.
  private void pickup() throws Exception {
    Progress.say(PICKUP);
    database.settle();
    SynchronousQueue<Long> starts = new SynchronousQueue<>();
    Histogram latencies = Window.latencies();
    try (Worker worker = queue.work(() -> start(starts));
        Connection connection = database.pool().getConnection()) {
      connection.setAutoCommit(false);
      long measuredNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
      long endNanos = measuredNanos + TimeUnit.SECONDS.toNanos(seconds);
      while (System.nanoTime() < endNanos) {
        long committedNanos = queue.enqueue(connection);
        Long startedNanos = starts.poll(START_SECONDS, TimeUnit.SECONDS);
        if (startedNanos == null) {
          throw new IllegalStateException("A job was not begun within half a minute");
        }
        if (committedNanos > measuredNanos) {
          Window.record(latencies, startedNanos - committedNanos);
        }
        // Until the result is written and the queue idle; random, to avoid a rhythm.
        TimeUnit.MICROSECONDS.sleep(ThreadLocalRandom.current().nextLong(10_000, 20_000));
      }
      connection.setAutoCommit(true);
    }
    report.add(Measured.of(PICKUP, 1, latencies, seconds, latencies.getTotalCount()));
  }

  private static void start(SynchronousQueue<Long> starts) {
    try {
      starts.put(System.nanoTime());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void await(CountDownLatch latch) throws InterruptedException {
    if (!latch.await(START_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("Jobs were not begun within half a minute");
    }
  }

  /** Counts the statements of an idle node that touch a table. */
  @SuppressWarnings("try") // The worker only has to be there.
  private void idle() throws Exception {
    Progress.say(IDLE);
    if (!database.canCountStatements()) {
      report.add(Measured.skipped(IDLE, 1, "needs pg_stat_statements in shared_preload_libraries"));
      return;
    }
    CountDownLatch ran = new CountDownLatch(LockstepQueue.SHARDS);
    try (Worker worker = queue.work(ran::countDown)) {
      // Once it has run a job of every shard it owns them all.
      queue.enqueueOneEach();
      await(ran);
      BenchDatabase.Statements counted =
          database.countStatements(
              () -> TimeUnit.SECONDS.sleep(HEARD_SECONDS),
              () -> TimeUnit.SECONDS.sleep(IDLE_SECONDS));
      report.note(
          "idle node: %.1f statements on tables, %.1f transactions, %.1f statements of any kind a second",
          (double) counted.onTables() / IDLE_SECONDS,
          (double) counted.transactions() / IDLE_SECONDS,
          (double) counted.all() / IDLE_SECONDS);
      report.add(Measured.rate(IDLE, (double) counted.onTables() / IDLE_SECONDS, 0));
    }
  }

  /**
   * Writes and completes a million jobs, and measures the hot table with indexes after each
   * quarter, once vacuumed: here at once, in production by autovacuum a minute later.
   */
  @SuppressWarnings("try") // The worker only has to be there.
  private void bloat() throws Exception {
    queue.clear();
    for (int step = 1; step <= BLOAT_STEPS; step++) {
      long target = (long) step * BLOAT_STEP;
      Progress.say("Lockstep, bloat: %,d jobs done", target - BLOAT_STEP);
      CountDownLatch ran = new CountDownLatch(BLOAT_STEP);
      // Closing waits until its results are written.
      try (Worker worker = queue.work(ran::countDown)) {
        for (int i = 0; i < BLOAT_STEP; i += BLOAT_BATCH) {
          queue.copy(BLOAT_BATCH);
        }
        await(ran);
      }
      double before = queue.sizeMb();
      database.execute("VACUUM lockstep.job");
      sizesMb.add(queue.sizeMb());
      report.note(
          "after %,9d jobs done: table and indexes %.1f MB, %.1f MB once vacuumed",
          target, before, sizesMb.get(sizesMb.size() - 1));
    }
    Report.requireBalance("Lockstep, bloat", 0, queue.left());
  }

  /**
   * Runs the same jobs while ever more are scheduled for later in the same queue; the median of
   * several rounds per size.
   */
  private void scheduled() throws Exception {
    int there = 0;
    queue.clear();
    // Autovacuum goes by the share of changed rows: it would run while few are scheduled, and not
    // while many are.
    database.execute("ALTER TABLE lockstep.job SET (autovacuum_enabled = off)");
    for (int size : SCHEDULED) {
      String name = scheduled(size);
      Progress.say("%s: scheduling", name);
      queue.schedule(there, size);
      there = size;
      List<Measured> rounds = new ArrayList<>();
      for (int round = 0; round < SCHEDULED_ROUNDS; round++) {
        rounds.add(
            Drain.run(
                name,
                LockstepQueue.CONCURRENCY,
                SCHEDULED_TIME,
                database,
                queue,
                LockstepQueue.PER_SECOND));
        removeDue();
      }
      report.add(Measured.median(rounds));
    }
    database.execute("ALTER TABLE lockstep.job RESET (autovacuum_enabled)");
  }

  private static String scheduled(int size) {
    return "Lockstep, %,d scheduled".formatted(size);
  }

  private void removeDue() throws SQLException {
    database.execute("DELETE FROM lockstep.job WHERE due <= now()");
  }
}
