package dev.lockstep.bench;

import dev.lockstep.job.Handlers;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.NewJob;
import dev.lockstep.job.Outcome;
import dev.lockstep.job.QueueConfig;
import dev.lockstep.job.Worker;
import dev.lockstep.job.WorkerConfig;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.stream.LongStream;

/** Lockstep's jobs, with one worker that listens for notifications. */
final class LockstepQueue implements JobQueue {
  static final int CONCURRENCY = 8;
  static final int SHARDS = 32;

  /** Jobs to write per second, more than it runs. */
  static final int PER_SECOND = 420_000;

  private static final int FILL_BATCH = 50_000;
  private static final String QUEUE = "bench";
  private static final String KIND = "nothing";

  private final BenchDatabase database;
  private final Transactor transactor;
  private final Jobs jobs;

  LockstepQueue(BenchDatabase database) {
    this.database = database;
    this.transactor = new Transactor(database.pool());
    this.jobs = new Jobs(transactor);
  }

  private static NewJob job(long number) {
    return NewJob.of(QUEUE, KIND, Long.toString(number));
  }

  @Override
  public void fill(int count) throws Exception {
    int half = count / 2;
    InPairs.run(() -> fillAlone(half), () -> fillAlone(count - half));
  }

  private void fillAlone(int count) {
    for (int done = 0; done < count; done += FILL_BATCH) {
      copy(Math.min(FILL_BATCH, count - done));
    }
  }

  /** One job for each shard, in one transaction. */
  void enqueueOneEach() {
    transactor.run(
        c -> {
          var unused =
              jobs.enqueueAll(c, LongStream.range(0, SHARDS).mapToObj(i -> job(i)).toList());
        });
  }

  /** With COPY, in a transaction of its own. */
  void copy(int count) {
    transactor.run(
        c -> {
          long unused = jobs.copy(c, LongStream.range(0, count).mapToObj(i -> job(i)).iterator());
        });
  }

  /**
   * One job in a transaction of its own.
   *
   * @return when COMMIT was sent, by {@link System#nanoTime}
   */
  long enqueue(Connection connection) throws SQLException {
    var unused = jobs.enqueue(connection, job(0));
    long nanos = System.nanoTime();
    connection.commit();
    return nanos;
  }

  /**
   * Schedules jobs over the coming year. The server generates them and builds the indexes
   * afterwards, since there may be ten million.
   */
  void schedule(long from, long until) throws Exception {
    String key = database.text("SELECT pg_get_indexdef('lockstep.job_pkey'::regclass)");
    String due = database.text("SELECT pg_get_indexdef('lockstep.job_due'::regclass)");
    database.execute(
        "ALTER TABLE lockstep.job DROP CONSTRAINT job_pkey; DROP INDEX lockstep.job_due");
    long half = from + (until - from) / 2;
    InPairs.run(
        () -> database.execute(scheduled(from, half)),
        () -> database.execute(scheduled(half, until)));
    String memory = "SET LOCAL maintenance_work_mem = '512MB'; ";
    InPairs.run(() -> database.execute(memory + key), () -> database.execute(memory + due));
    database.execute("ALTER TABLE lockstep.job ADD PRIMARY KEY USING INDEX job_pkey");
  }

  private static String scheduled(long from, long until) {
    // A job's id ends with its shard: the last ten bits.
    return """
        INSERT INTO lockstep.job (shard, id, queue, priority, due, kind, payload, max_attempts)
        SELECT n %% %d,
               (lpad(to_hex(n), 12, '0') || '70008000' || lpad(to_hex(n %% %d), 12, '0'))::uuid,
               '%s', 1, now() + interval '1 day' + (n * 3) * interval '1 second', '%s', '0', 10
        FROM generate_series(%d::bigint, %d::bigint - 1) n"""
        .formatted(SHARDS, SHARDS, QUEUE, KIND, from, until);
  }

  @Override
  public Worker work(Runnable job) {
    return jobs.worker(
        WorkerConfig.named("bench")
            .withQueue(QueueConfig.of(QUEUE, CONCURRENCY).withReadAhead(QueueConfig.MAX_READ_AHEAD))
            .withListen(database.direct()),
        Handlers.none()
            .on(
                KIND,
                (json, context) -> {
                  job.run();
                  return Outcome.done();
                }));
  }

  @Override
  public long left() throws SQLException {
    return database.number("SELECT count(*) FROM lockstep.job WHERE due <= now()");
  }

  /** Of the hot table and its indexes. */
  double sizeMb() throws SQLException {
    return database.number("SELECT pg_total_relation_size('lockstep.job')") / 1e6;
  }

  void clear() throws SQLException {
    database.execute("TRUNCATE lockstep.job");
  }
}
