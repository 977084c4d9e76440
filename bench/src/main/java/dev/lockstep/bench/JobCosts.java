package dev.lockstep.bench;

import dev.lockstep.job.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** What Lockstep's jobs cost besides running: waiting, idling, space, and a full calendar. */
final class JobCosts {
  private static final String PICKUP = "Lockstep, from COMMIT to start, idle queue";
  private static final String IDLE = "Lockstep, queries of an idle node";
  private static final int[] SCHEDULED = {10_000, 1_000_000, 10_000_000};
  private static final int SCHEDULED_ROUNDS = 3;
  private static final Drain.Time SCHEDULED_TIME = new Drain.Time(1, 2);
  private static final int BLOAT_STEP = 250_000;
  private static final int BLOAT_STEPS = 4;
  private static final int BLOAT_BATCH = 10_000;
  // Longer than its poll interval, and than that of its heartbeats.
  private static final int HEARD_SECONDS = 3;
  private static final int IDLE_SECONDS = 10;
  private static final long START_SECONDS = 30;

  private final BenchDatabase database;
  private final int seconds;
  private final Report report;
  private final LockstepQueue queue;

  JobCosts(BenchDatabase database, int seconds, Report report, LockstepQueue queue) {
    this.database = database;
    this.seconds = seconds;
    this.report = report;
    this.queue = queue;
  }

  /** One job after the other, each into a queue that is idle: from sending COMMIT to its start. */
  @SuppressWarnings("try") // The worker only has to be there.
  Measured pickup() throws Exception {
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
        // An idle queue: time enough for the result to be written, and not in step with anything.
        TimeUnit.MICROSECONDS.sleep(ThreadLocalRandom.current().nextLong(10_000, 20_000));
      }
      connection.setAutoCommit(true);
    }
    return report.add(Measured.of(PICKUP, 1, latencies, seconds, latencies.getTotalCount()));
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

  /** What the server counts while a node has nothing to do: statements that touch a table. */
  @SuppressWarnings("try") // The worker only has to be there.
  Measured idle() throws Exception {
    Progress.say(IDLE);
    if (!database.canCountStatements()) {
      return report.add(
          Measured.skipped(IDLE, 1, "needs pg_stat_statements in shared_preload_libraries"));
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
      return report.add(
          new Measured(IDLE, 1, (double) counted.onTables() / IDLE_SECONDS, 0, 0, 0, 0, ""));
    }
  }

  /**
   * A million jobs written and done, and the size of the hot table and its indexes after each
   * quarter of them, once vacuumed: here at once, elsewhere by autovacuum a minute later.
   *
   * @return the sizes in MB
   */
  @SuppressWarnings("try") // The worker only has to be there.
  List<Double> bloat() throws Exception {
    List<Double> sizes = new ArrayList<>();
    queue.clear();
    for (int step = 1; step <= BLOAT_STEPS; step++) {
      long target = (long) step * BLOAT_STEP;
      Progress.say("Lockstep, bloat: %,d jobs done", target - BLOAT_STEP);
      CountDownLatch ran = new CountDownLatch(BLOAT_STEP);
      // Closed when its results are written.
      try (Worker worker = queue.work(ran::countDown)) {
        for (int i = 0; i < BLOAT_STEP; i += BLOAT_BATCH) {
          queue.copy(BLOAT_BATCH);
        }
        await(ran);
      }
      double before = queue.sizeMb();
      database.execute("VACUUM lockstep.job");
      sizes.add(queue.sizeMb());
      report.note(
          "after %,9d jobs done: table and indexes %.1f MB, %.1f MB once vacuumed",
          target, before, sizes.get(sizes.size() - 1));
    }
    Report.requireBalance("Lockstep, bloat", 0, queue.left());
    return sizes;
  }

  /**
   * The same jobs again while ever more are scheduled for later, in the same queue: of each number
   * the median of several rounds.
   */
  List<Measured> scheduled() throws Exception {
    List<Measured> all = new ArrayList<>();
    int there = 0;
    queue.clear();
    // It goes by the share of the table that has changed: it would come while few are scheduled,
    // and not while many are.
    database.execute("ALTER TABLE lockstep.job SET (autovacuum_enabled = off)");
    for (int size : SCHEDULED) {
      String name = "Lockstep, %,d scheduled".formatted(size);
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
      all.add(report.add(Measured.median(rounds)));
    }
    database.execute("ALTER TABLE lockstep.job RESET (autovacuum_enabled)");
    return all;
  }

  private void removeDue() throws SQLException {
    database.execute("DELETE FROM lockstep.job WHERE due <= now()");
  }
}
