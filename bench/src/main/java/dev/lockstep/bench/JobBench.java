package dev.lockstep.bench;

import java.util.List;
import java.util.stream.DoubleStream;

/** Jobs that do nothing: the peers, the documents' claim, Lockstep, the ceiling. */
final class JobBench {
  private static final String LOCKSTEP = "Lockstep";
  private static final String DB_SCHEDULER_FEW = "db-scheduler, lock and fetch, 20 threads";
  private static final String DB_SCHEDULER_MANY = "db-scheduler, lock and fetch, 50 threads";
  private static final String JOB_RUNR = "JobRunr";
  private static final String JOB_RUNR_AHEAD = "JobRunr, reading ahead";
  private static final String QUARTZ = "Quartz, JDBC store";
  private static final String CLAIM = "documents: SKIP LOCKED claim, then delete";
  private static final String CEILING = "ceiling: read and delete by shard";
  private static final String COPY = "Lockstep, enqueue by COPY";
  private static final String BATCH = "db-scheduler, scheduleBatch";
  private static final String REWRITTEN = "db-scheduler, scheduleBatch, reWriteBatchedInserts";
  private static final int ENQUEUE_BATCH = 10_000;

  /** Until it gets no faster: the slowest to be compiled takes about as long. */
  private static final double WARM_UP_SECONDS = 6;

  private final BenchDatabase database;
  private final int seconds;
  private final Report report;

  private JobBench(BenchDatabase database, int seconds, Report report) {
    this.database = database;
    this.seconds = seconds;
    this.report = report;
  }

  static void run(BenchDatabase database, int seconds, Report report) throws Exception {
    JobBench bench = new JobBench(database, seconds, report);
    LockstepQueue lockstep = new LockstepQueue(database);
    try (DbSchedulerQueue dbScheduler = DbSchedulerQueue.create(database)) {
      bench.peers(dbScheduler);
      bench.drain(CLAIM, ClaimQueue.WORKERS, ClaimQueue.create(database), 110_000);
      bench.drain(CEILING, ShardQueue.WORKERS, ShardQueue.create(database), 420_000);
      database.execute("DROP SCHEMA claim, ceiling CASCADE");
      bench.drain(LOCKSTEP, LockstepQueue.CONCURRENCY, lockstep, LockstepQueue.PER_SECOND);
      lockstep.clear();
      bench.enqueue(lockstep, dbScheduler);
    }
    JobCosts costs = new JobCosts(database, seconds, report, lockstep);
    bench.aims(costs.pickup(), costs.idle(), costs.bloat(), costs.scheduled());
  }

  private void peers(DbSchedulerQueue dbScheduler) throws Exception {
    drain(DB_SCHEDULER_FEW, 20, dbScheduler.with(20), 16_000);
    dbScheduler.clear();
    drain(DB_SCHEDULER_MANY, 50, dbScheduler.with(50), 16_000);
    dbScheduler.clear();
    JobRunrQueue jobRunr = JobRunrQueue.create(database);
    Drain.Time twoPolls =
        new Drain.Time(WARM_UP_SECONDS, Math.max(seconds, JobRunrQueue.TWO_POLLS));
    drain(JOB_RUNR, JobRunrQueue.WORKERS, twoPolls, jobRunr, 5_000);
    jobRunr.clear();
    drain(JOB_RUNR_AHEAD, JobRunrQueue.WORKERS, twoPolls, jobRunr.readingAhead(), 5_000);
    jobRunr.clear();
    drain(QUARTZ, QuartzQueue.THREADS, QuartzQueue.create(database), 500);
  }

  /** With more jobs than can be done in the time; should they be done, time ends there. */
  private void drain(String name, int workers, JobQueue queue, int perSecond) throws Exception {
    Drain.Time time = new Drain.Time(Math.max(WARM_UP_SECONDS, seconds / 3.0), seconds);
    drain(name, workers, time, queue, perSecond);
  }

  private void drain(String name, int workers, Drain.Time time, JobQueue queue, int perSecond)
      throws Exception {
    report.add(Drain.run(name, workers, time, database, queue, perSecond));
  }

  /** Both have filled their queues by it before, so it is compiled. */
  private void enqueue(LockstepQueue lockstep, DbSchedulerQueue dbScheduler) throws Exception {
    database.settle();
    List<Measured> both =
        InTurns.run(
            seconds,
            new InTurns(COPY, n -> lockstep.copy(ENQUEUE_BATCH)),
            new InTurns(BATCH, n -> dbScheduler.scheduleBatch(ENQUEUE_BATCH)));
    enqueued(both.get(0), lockstep);
    enqueued(both.get(1), dbScheduler);
    lockstep.clear();
    dbScheduler.clear();
    database.settle();
    try (DbSchedulerQueue rewritten = dbScheduler.withRewrittenInserts()) {
      InTurns batches = new InTurns(REWRITTEN, n -> rewritten.scheduleBatch(ENQUEUE_BATCH));
      enqueued(InTurns.run(seconds, batches).get(0), rewritten);
    }
    dbScheduler.clear();
  }

  private void enqueued(Measured batches, JobQueue queue) throws Exception {
    Measured jobs = batches.times(ENQUEUE_BATCH);
    Report.requireBalance(jobs.name(), jobs.acknowledged(), queue.left());
    report.add(jobs);
  }

  private void aims(Measured pickup, Measured idle, List<Double> sizes, List<Measured> scheduled) {
    Measured lockstep = report.find(LOCKSTEP, LockstepQueue.CONCURRENCY);
    report.atLeast(
        "Lockstep / db-scheduler, its better setting",
        lockstep,
        faster(report.find(DB_SCHEDULER_FEW, 20), report.find(DB_SCHEDULER_MANY, 50)),
        25);
    report.atLeast(
        "Lockstep / JobRunr, its better setting",
        lockstep,
        faster(
            report.find(JOB_RUNR, JobRunrQueue.WORKERS),
            report.find(JOB_RUNR_AHEAD, JobRunrQueue.WORKERS)),
        60);
    report.atLeast(
        "Lockstep / SKIP LOCKED claim", lockstep, report.find(CLAIM, ClaimQueue.WORKERS), 2);
    report.atLeast("Lockstep / ceiling", lockstep, report.find(CEILING, ShardQueue.WORKERS), 0.6);
    report.atLeast(
        "enqueue by COPY / db-scheduler's batch with the driver as it comes",
        report.find(COPY, 1),
        report.find(BATCH, 1),
        3);
    report.atMost("p50 from commit to start in ms / 5 ms", pickup.p50Ms(), 5, 1);
    report.atMost("p99 from commit to start in ms / 25 ms", pickup.p99Ms(), 25, 1);
    report.atMost(
        "cost of a claim, dearest / cheapest of 10 thousand, 1 million and 10 million scheduled",
        rates(scheduled).max().orElse(0),
        rates(scheduled).min().orElse(0),
        1.3);
    report.atMost("queries a second of an idle node / 2", idle.perSecond(), 2, 1);
    report.atMost(
        "size of table and indexes after a million jobs / after half a million",
        sizes.get(sizes.size() - 1),
        sizes.get(sizes.size() / 2 - 1),
        1.1);
  }

  private static Measured faster(Measured one, Measured another) {
    return one.perSecond() > another.perSecond() ? one : another;
  }

  private static DoubleStream rates(List<Measured> all) {
    return all.stream().mapToDouble(Measured::perSecond);
  }
}
