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
  public void fill(int count) {
    for (int done = 0; done < count; done += FILL_BATCH) {
      copy(Math.min(FILL_BATCH, count - done));
    }
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

  /** Jobs for a year to come, written by the server itself since there may be ten million. */
  void schedule(long from, long until) throws SQLException {
    // A job's id ends with its shard: the last ten bits.
    database.execute(
        """
        INSERT INTO lockstep.job (shard, id, queue, priority, due, kind, payload, max_attempts)
        SELECT n %% 32,
               (lpad(to_hex(n), 12, '0') || '70008000' || lpad(to_hex(n %% 32), 12, '0'))::uuid,
               '%s', 1, now() + interval '1 day' + (n * 3) * interval '1 second', '%s', '0', 10
        FROM generate_series(%d::bigint, %d::bigint - 1) n"""
            .formatted(QUEUE, KIND, from, until));
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
