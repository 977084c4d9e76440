package dev.lockstep.bench;

import java.util.List;

/** Jobs that do nothing: the peers, the documents' claim, Lockstep, the ceiling. */
final class JobBench implements Benchmark {
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

  /** About as long as the slowest contender takes to compile. */
  private static final double WARM_UP_SECONDS = 6;

  private final BenchRun run;
  private final BenchDatabase database;
  private final LockstepQueue lockstep;
  private final JobCosts costs;

  JobBench(BenchRun run) {
    this.run = run;
    this.database = run.database();
    this.lockstep = new LockstepQueue(database);
    this.costs = new JobCosts(run, lockstep);
  }

  @Override
  public void measure() throws Exception {
    try (DbSchedulerQueue dbScheduler = DbSchedulerQueue.create(database)) {
      peers(dbScheduler);
      drain(CLAIM, ClaimQueue.WORKERS, ClaimQueue.create(database), 110_000);
      drain(CEILING, ShardQueue.WORKERS, ShardQueue.create(database), 420_000);
      database.execute("DROP SCHEMA claim, ceiling CASCADE");
      drain(LOCKSTEP, LockstepQueue.CONCURRENCY, lockstep, LockstepQueue.PER_SECOND);
      lockstep.clear();
      enqueue(dbScheduler);
    }
    costs.measure();
  }

  private void peers(DbSchedulerQueue dbScheduler) throws Exception {
    drain(DB_SCHEDULER_FEW, 20, dbScheduler.with(20), 16_000);
    dbScheduler.clear();
    drain(DB_SCHEDULER_MANY, 50, dbScheduler.with(50), 16_000);
    dbScheduler.clear();
    JobRunrQueue jobRunr = JobRunrQueue.create(database);
    Drain.Time twoPolls =
        new Drain.Time(WARM_UP_SECONDS, Math.max(run.seconds(), JobRunrQueue.TWO_POLLS));
    drain(JOB_RUNR, JobRunrQueue.WORKERS, twoPolls, jobRunr, 5_000);
    jobRunr.clear();
    drain(JOB_RUNR_AHEAD, JobRunrQueue.WORKERS, twoPolls, jobRunr.readingAhead(), 5_000);
    jobRunr.clear();
    drain(QUARTZ, QuartzQueue.THREADS, QuartzQueue.create(database), 500);
  }

  /** Drains more jobs than can be done in the time; if all are done, measuring ends early. */
  private void drain(String name, int workers, JobQueue queue, int perSecond) throws Exception {
    double warmUpSeconds = Math.max(WARM_UP_SECONDS, run.seconds() / 3.0);
    drain(name, workers, new Drain.Time(warmUpSeconds, run.seconds()), queue, perSecond);
  }

  private void drain(String name, int workers, Drain.Time time, JobQueue queue, int perSecond)
      throws Exception {
    run.report().add(Drain.run(name, workers, time, database, queue, perSecond));
  }

  /** Both filled their queues this way before, so the code is compiled. */
  private void enqueue(DbSchedulerQueue dbScheduler) throws Exception {
    database.settle();
    run.alone(
        List.of(
            enqueuing(COPY, () -> lockstep.copy(ENQUEUE_BATCH), lockstep),
            enqueuing(BATCH, () -> dbScheduler.scheduleBatch(ENQUEUE_BATCH), dbScheduler)));
    lockstep.clear();
    dbScheduler.clear();
    database.settle();
    try (DbSchedulerQueue rewritten = dbScheduler.withRewrittenInserts()) {
      run.alone(
          List.of(enqueuing(REWRITTEN, () -> rewritten.scheduleBatch(ENQUEUE_BATCH), rewritten)));
    }
    dbScheduler.clear();
  }

  private static Contender enqueuing(String name, Runnable batch, JobQueue queue) {
    return Contender.inBatches(name, ENQUEUE_BATCH, n -> batch.run(), queue::left);
  }

  @Override
  public void aims() {
    Report report = run.report();
    Measured ours = report.find(LOCKSTEP, LockstepQueue.CONCURRENCY);
    report.atLeast(
        "Lockstep / db-scheduler, its better setting",
        ours,
        faster(report.find(DB_SCHEDULER_FEW, 20), report.find(DB_SCHEDULER_MANY, 50)),
        25);
    report.atLeast(
        "Lockstep / JobRunr, its better setting",
        ours,
        faster(
            report.find(JOB_RUNR, JobRunrQueue.WORKERS),
            report.find(JOB_RUNR_AHEAD, JobRunrQueue.WORKERS)),
        60);
    report.atLeast("Lockstep / SKIP LOCKED claim", ours, report.find(CLAIM, ClaimQueue.WORKERS), 2);
    report.atLeast("Lockstep / ceiling", ours, report.find(CEILING, ShardQueue.WORKERS), 0.6);
    report.atLeast(
        "enqueue by COPY / db-scheduler's batch with the driver as it comes",
        report.find(COPY, 1),
        report.find(BATCH, 1),
        3);
    costs.aims();
  }

  private static Measured faster(Measured one, Measured another) {
    return one.perSecond() > another.perSecond() ? one : another;
  }
}
