package dev.lockstep.job;

import dev.lockstep.job.ClaimResults.Held;
import dev.lockstep.shard.Shards;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * Recovers a claimed queue's jobs whose rows or records name a dead worker. Normally the next owner
 * of the shard does this ({@link ShardRecovery}), but a claimed queue may never have one.
 *
 * <p>Counts an attempt for each job; jobs without attempts left become dead letters. A worker's
 * {@code maxCrashes} is unknown here and does not apply: whoever claims the job is not at risk, and
 * the crash is counted for the next worker. Waits for no lock: a locked job is recovered once the
 * lock is released.
 */
final class QueueRecovery {
  private static final int BATCH = 500;

  private static final String NAMED =
      """
      SELECT keeper FROM lockstep.job WHERE queue = ? AND keeper IS NOT NULL
      UNION SELECT member FROM lockstep.job_away WHERE queue = ?\
      """;

  private static final String UNLOCKED =
      """
      SELECT j.id, j.queue, j.lane, j.unique_key, j.attempts, j.max_attempts, j.version
      FROM lockstep.job j WHERE j.queue = ? AND j.keeper IS NOT NULL AND j.keeper = ANY (?)
      ORDER BY j.shard, j.id LIMIT ? FOR UPDATE SKIP LOCKED\
      """;

  private static final String FORGET =
      """
      DELETE FROM lockstep.job_away a
      USING (SELECT shard, id, member, run FROM lockstep.job_away
             WHERE queue = ? AND member = ANY (?) FOR UPDATE SKIP LOCKED) x
      WHERE a.shard = x.shard AND a.id = x.id AND a.member = x.member AND a.run = x.run\
      """;

  private final Connection connection;
  private final JobIds ids;
  private final String queue;

  /**
   * @param queue a queue that no live worker serves
   */
  QueueRecovery(Connection connection, JobIds ids, String queue) {
    this.connection = connection;
    this.ids = ids;
    this.queue = queue;
  }

  /** Adds the query for workers named by the queue's rows and records. Usually there are none. */
  Rows<UUID> readWorkers(RoundTrip trip) {
    return trip.query(NAMED, row -> row.getObject(1, UUID.class), queue, queue);
  }

  /** Recovers the jobs of those workers that are dead. */
  void count(List<UUID> workers) throws SQLException {
    Set<UUID> gone = Shards.gone(connection, JobsConfig.GROUP, workers);
    if (gone.isEmpty()) {
      return;
    }
    SqlArray members = SqlArray.uuids(List.copyOf(gone));
    RoundTrip look = new RoundTrip(connection);
    look.update(FORGET, queue, members);
    Rows<Held> unlocked = look.query(UNLOCKED, Held::read, queue, members, BATCH);
    look.send();
    UnreportedJobs unreported = new UnreportedJobs(connection, ids, true, ShardRecovery.CUT_OFF);
    Set<JobId> locked = unreported.locked(unlocked.list());
    RoundTrip write = new RoundTrip(connection);
    unreported.count(
        write, unlocked.list().stream().filter(job -> !locked.contains(job.id())).toList());
    write.send();
  }
}
