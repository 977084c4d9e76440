package dev.lockstep.job;

import dev.lockstep.fault.LockTimeout;
import dev.lockstep.sql.IndexLookups;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One run of a job whose handler may complete it in a transaction of its own ({@link
 * JobContext#complete}). We do not see that transaction end. So after the handler has returned, the
 * table is asked what became of the job.
 */
final class JoinedCompletion implements JobLease {
  private static final String LIMIT_LOCK_WAITS =
      """
      SELECT set_config('lockstep.lock_timeout', current_setting('lock_timeout'), true),
        set_config('lock_timeout', ?, true)""";

  private static final String RESTORE_LOCK_WAITS =
      "SELECT set_config('lock_timeout', current_setting('lockstep.lock_timeout'), true)";

  private final Transactor transactor;
  private final TxOptions options;
  private final JobsConfig config;
  private final JobIds ids;
  private final Task task;
  private volatile boolean tried;
  private volatile boolean locked;

  /**
   * @param options for the question to the table; its lock timeout also limits the completion
   */
  JoinedCompletion(
      Transactor transactor, TxOptions options, JobsConfig config, JobIds ids, Task task) {
    this.transactor = transactor;
    this.options = options;
    this.config = config;
    this.ids = ids;
    this.task = task;
  }

  @Override
  public boolean holds() {
    return task.holdsLease();
  }

  @Override
  public void complete(Connection connection) {
    tried = true;
    try {
      transactor.runJoined(
          connection,
          joined ->
              IndexLookups.during(
                  joined,
                  own -> {
                    delete(own);
                    return true;
                  }));
    } catch (LockTimeout e) {
      locked = true;
      throw e;
    }
  }

  private void delete(Connection connection) throws SQLException {
    RoundTrip limit = new RoundTrip(connection);
    limit.query(LIMIT_LOCK_WAITS, row -> true, String.valueOf(options.lockTimeout().toMillis()));
    task.lease.bound(limit);
    limit.send();
    ResultBatch batch = new ResultBatch(connection, config, ids);
    ResultFence fence = ResultFence.of(task);
    if (!batch.lock(fence, task.row)) {
      // The shard may have been handed over meanwhile: the mark is the lease now.
      fence = ResultFence.of(task);
      if (!task.isBegun() || !batch.lock(fence, task.row)) {
        throw new StaleJob(task.row.id());
      }
    }
    JobResult done = new JobResult(task, Outcome.done(), Duration.ZERO);
    if (!batch.write(Map.of(fence, List.of(done)), true).refused().isEmpty()) {
      throw new StaleJob(task.row.id());
    }
    RoundTrip restore = new RoundTrip(connection);
    restore.query(RESTORE_LOCK_WAITS, row -> true);
    restore.send();
  }

  /** Whether the handler has called {@link #complete}. */
  boolean wasTried() {
    return tried;
  }

  /**
   * What is left to write after the handler has said how the job ended. Every result is fenced, so
   * it is refused if the job is gone after all.
   *
   * @return empty if the handler's transaction has committed, and the job is gone
   */
  Optional<JobResult> left(Outcome outcome) {
    if (outcome instanceof Outcome.Retry && locked) {
      // Not the job's fault: it runs again once the lock is released.
      return Optional.of(JobResult.givenBack(task));
    }
    if (!(outcome instanceof Outcome.Done)) {
      return Optional.of(JobResult.of(task, outcome));
    }
    try {
      return transactor.call(
              options.asReadOnly(), connection -> JobQueries.exists(connection, task.row.id()))
          ? Optional.of(
              JobResult.of(
                  task,
                  new Outcome.Retry(
                      "The handler returned done, but the transaction in which it completed the job"
                          + " did not commit")))
          : Optional.empty();
    } catch (RuntimeException e) {
      return Optional.of(JobResult.givenBack(task));
    }
  }
}
