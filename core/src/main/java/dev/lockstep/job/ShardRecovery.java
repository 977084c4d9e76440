package dev.lockstep.job;

import dev.lockstep.fault.LockTimeout;
import dev.lockstep.shard.Lease;
import dev.lockstep.shard.Shards;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Recovers a shard whose owner died or was cut off. Reading a job writes nothing, so the database
 * does not say which jobs were running; one of them may have killed the worker.
 *
 * <p>Every job that may have been running becomes a <em>suspect</em>. A suspect is marked in its
 * row before it runs, so the next crash counts against the jobs that were running then, and no
 * others. A job that was running at too many crashes is dead.
 *
 * <p>Recovery does not wait for long locks: it skips locked jobs and counts marked ones once the
 * lock is released.
 */
final class ShardRecovery {
  /** More than an owner keeps in memory per queue and priority of a shard. */
  private static final int SUSPECTS = 5 * JobStream.MAX_KNOWN;

  // Rows to walk per queue and priority to find them. An owner reads past the waiting jobs of deep
  // lanes; reading this many takes a fraction of a second.
  private static final int WALK = 200_000;

  // Edits are short; do not wait for one whose transaction stays open.
  private static final Duration LOCK_TIMEOUT = Duration.ofMillis(100);

  // A loose index scan: one step per queue and priority of the shard. Two with the same hash count
  // as one here; the factor in SUSPECTS leaves room for that. Of a lane only the first jobs can
  // have run: without that condition, a deep lane would hide all jobs behind it, and a job there
  // that kills its worker would do so for ever.
  private static final String MAY_HAVE_RUN =
      """
      WITH RECURSIVE stream AS (
        (SELECT hashtextextended(queue, priority) AS number FROM lockstep.job
         WHERE shard = ? ORDER BY hashtextextended(queue, priority) LIMIT 1)
        UNION ALL
        SELECT n.number FROM stream s
        CROSS JOIN LATERAL (
          SELECT hashtextextended(queue, priority) AS number FROM lockstep.job
          WHERE shard = ? AND hashtextextended(queue, priority) > s.number
          ORDER BY hashtextextended(queue, priority) LIMIT 1) n),
      due AS MATERIALIZED (
        SELECT d.id FROM stream s
        CROSS JOIN LATERAL (
          SELECT id, crashes, keeper FROM (
            SELECT *, row_number() OVER (PARTITION BY lane ORDER BY due, id) AS nth FROM (
              SELECT id, due, crashes, keeper, lane, lane_limit FROM lockstep.job
              WHERE shard = ? AND hashtextextended(queue, priority) = s.number AND due <= now()
              ORDER BY due, id LIMIT ?) walked) seen
          WHERE lane IS NULL OR nth <= 2 * lane_limit
          ORDER BY due, id LIMIT ?) d
        WHERE d.crashes = 0 AND d.keeper IS NULL),
      suspect AS MATERIALIZED (
        SELECT j.id FROM due JOIN lockstep.job j ON j.shard = ? AND j.id = due.id
        FOR NO KEY UPDATE OF j%s)
      """;
  private static final String SUSPECT =
      """
      UPDATE lockstep.job j SET crashes = 1 FROM suspect
      WHERE j.shard = ? AND j.id = suspect.id AND %s"""
          .formatted(Lease.FENCE);
  private static final String SUSPECT_ALL = MAY_HAVE_RUN.formatted("") + SUSPECT;
  private static final String SUSPECT_UNLOCKED = MAY_HAVE_RUN.formatted(" SKIP LOCKED") + SUSPECT;

  // Their node is dead, so only an edit could change these rows; the version detects it.
  private static final String COUNT =
      """
      UPDATE lockstep.job j
      SET crashes = j.crashes + 1, attempts = j.attempts + 1, keeper = NULL, version = j.version + 1
      FROM unnest(?, ?) AS x (id, version)
      WHERE j.shard = ? AND j.id = x.id AND j.version = x.version
        AND j.crashes + 1 < ? AND j.attempts + 1 < j.max_attempts AND %s
      RETURNING j.id"""
          .formatted(Lease.FENCE);

  private static final String MAKE_DEAD =
      DeadLetters.make(
              """
          DELETE FROM lockstep.job j USING unnest(?, ?) AS x (id, version)
          WHERE j.shard = ? AND j.id = x.id AND j.version = x.version
            AND (j.crashes + 1 >= ? OR j.attempts + 1 >= j.max_attempts) AND %s"""
                  .formatted(Lease.FENCE))
          + " RETURNING id";

  static final String CUT_OFF = "Its worker died or lost its lease while the job ran";

  private final Transactor transactor;
  private final TxOptions options;
  private final Shards shards;
  private final JobIds ids;
  private final int maxCrashes;

  ShardRecovery(Transactor transactor, Shards shards, JobIds ids, int maxCrashes) {
    this.transactor = transactor;
    TxOptions patient = transactor.defaults().withLabel("jobs cut off").withIndexLookups();
    this.options =
        LOCK_TIMEOUT.compareTo(patient.lockTimeout()) < 0
            ? patient.withLockTimeout(LOCK_TIMEOUT)
            : patient;
    this.shards = shards;
    this.ids = ids;
    this.maxCrashes = maxCrashes;
  }

  /** Makes suspects of jobs that may have been running. Call before any job of the shard runs. */
  void suspectRunningJobs(Lease lease) {
    try {
      suspect(lease, SUSPECT_ALL);
    } catch (LockTimeout e) {
      suspect(lease, SUSPECT_UNLOCKED);
    }
  }

  private void suspect(Lease lease, String statement) {
    short shard = (short) lease.shard();
    transactor.run(
        options,
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          lease.bound(trip);
          trip.update(statement, lease.fenced(shard, shard, shard, WALK, SUSPECTS, shard, shard));
          trip.send();
        });
  }

  /**
   * Counts an attempt for marked jobs whose node is dead.
   *
   * @return the jobs that still run or are locked; the others were counted and must be read again
   */
  Set<JobId> countLost(Lease lease, List<JobRow> marked) {
    Set<UUID> alive = shards.members();
    Set<JobId> running = new HashSet<>();
    List<JobRow> lost = new ArrayList<>();
    for (JobRow row : marked) {
      if (row.markedBy() != null && alive.contains(row.markedBy())) {
        running.add(row.id());
      } else {
        lost.add(row);
      }
    }
    if (!lost.isEmpty()) {
      running.addAll(transactor.call(options, connection -> count(connection, lease, lost)));
    }
    return running;
  }

  /**
   * Removes records of dead nodes. Counts nothing: if a job still exists, its row says what to
   * count.
   *
   * @return the jobs whose node is alive
   */
  Set<JobId> forgetLost(Lease lease, List<Straggler> recorded, StragglerTable table) {
    Set<UUID> alive = shards.members();
    List<Straggler> lost = recorded.stream().filter(one -> !alive.contains(one.member())).toList();
    if (!lost.isEmpty()) {
      table.removeLost(lease, lost);
    }
    return recorded.stream()
        .filter(one -> alive.contains(one.member()))
        .map(Straggler::id)
        .collect(Collectors.toSet());
  }

  /** Counts unlocked jobs; returns the locked ones. */
  private Set<JobId> count(Connection connection, Lease lease, List<JobRow> all)
      throws SQLException {
    Set<JobId> locked = new RowLocks(connection, ids).lockedWithKeys(lease, all);
    List<JobRow> lost = all.stream().filter(row -> !locked.contains(row.id())).toList();
    if (!lost.isEmpty()) {
      countUnlocked(connection, lease, lost);
    }
    return locked;
  }

  private void countUnlocked(Connection connection, Lease lease, List<JobRow> lost)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    SqlArray uuids = SqlArray.uuids(lost.stream().map(row -> row.id().value()).toList());
    SqlArray versions = SqlArray.integers(lost.stream().map(JobRow::version).toList());
    short shard = (short) lease.shard();
    lease.bound(trip);
    Object[] fenced = lease.fenced(uuids, versions, shard, maxCrashes);
    Rows<JobId> counted = trip.query(COUNT, JobId::read, fenced);
    Rows<JobId> dead = trip.query(MAKE_DEAD, JobId::read, DeadLetters.bind(fenced, 1, 1, CUT_OFF));
    trip.send();
    RoundTrip after = new RoundTrip(connection);
    counted.list().forEach(id -> AttemptTable.record(after, id, CUT_OFF));
    dead.list().forEach(id -> AttemptTable.record(after, id, CUT_OFF));
    lost.stream()
        .filter(row -> dead.list().contains(row.id()))
        .forEach(row -> ResultBatch.freeKey(after, ids, row));
    after.send();
  }
}
