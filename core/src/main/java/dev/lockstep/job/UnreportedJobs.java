package dev.lockstep.job;

import dev.lockstep.job.ClaimResults.Held;
import dev.lockstep.job.RowLocks.JobKey;
import dev.lockstep.sql.RoundTrip;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Counts an attempt for jobs of claimed queues whose results will never come. Jobs without attempts
 * left become dead letters. The caller has locked the jobs' rows, and commits.
 */
final class UnreportedJobs {
  private static final String COUNT =
      """
      UPDATE lockstep.job j SET attempts = j.attempts + 1, %sversion = j.version + 1
      FROM unnest(?, ?) AS x (shard, id) WHERE j.shard = x.shard AND j.id = x.id""";

  private static final String COUNT_ATTEMPT = COUNT.formatted("");

  // The new version fences off the old worker's result, even where the row was its lease.
  private static final String COUNT_CRASH =
      COUNT.formatted("crashes = j.crashes + 1, keeper = NULL, ");

  private final Connection connection;
  private final JobIds ids;
  private final boolean crashed;
  private final String error;

  /**
   * @param crashed whether the jobs' worker died, which counts as a crash too
   * @param error what is recorded as the attempts' error
   */
  UnreportedJobs(Connection connection, JobIds ids, boolean crashed, String error) {
    this.connection = connection;
    this.ids = ids;
    this.crashed = crashed;
    this.error = error;
  }

  /** The jobs that cannot end now: their attempts are used up, but their unique keys are locked. */
  Set<JobId> locked(List<Held> jobs) throws SQLException {
    List<JobKey> keys =
        jobs.stream().filter(Held::hasItsLastAttempt).flatMap(job -> key(job).stream()).toList();
    return new RowLocks(connection, ids).lockedKeys(keys);
  }

  /** Adds the writes for these jobs, none of which is {@link #locked}. */
  void count(RoundTrip trip, List<Held> jobs) {
    List<JobId> counted =
        jobs.stream().filter(job -> !job.hasItsLastAttempt()).map(Held::id).toList();
    List<Held> dying = jobs.stream().filter(Held::hasItsLastAttempt).toList();
    jobs.forEach(job -> AttemptTable.record(trip, job.id(), error));
    if (!counted.isEmpty()) {
      trip.update(crashed ? COUNT_CRASH : COUNT_ATTEMPT, JobId.arrays(counted));
    }
    if (!dying.isEmpty()) {
      List<JobId> dead = dying.stream().map(Held::id).toList();
      DeadLetters.make(trip, dead, 1, crashed ? 1 : 0, error);
    }
    dying.forEach(job -> ResultBatch.freeKey(trip, ids, job.id(), job.queue(), job.uniqueKey()));
  }

  private static Optional<JobKey> key(Held job) {
    return Optional.ofNullable(job.uniqueKey()).map(key -> new JobKey(job.id(), job.queue(), key));
  }
}
