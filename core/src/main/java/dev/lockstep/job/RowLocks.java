package dev.lockstep.job;

import dev.lockstep.shard.Lease;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Finds jobs whose rows other transactions have locked, without waiting. Locks the rows of all
 * other jobs in the caller's transaction, so that its later writes to them do not wait either. A
 * job that does not exist counts as unlocked.
 */
final class RowLocks {
  private static final String JOBS =
      """
      SELECT j.id FROM unnest(?, ?) AS x (shard, id)
      JOIN lockstep.job j ON j.shard = x.shard AND j.id = x.id""";
  private static final String FREE_JOBS = JOBS + " FOR UPDATE OF j SKIP LOCKED";

  // A transaction that was only told "key taken" holds this lock too.
  private static final String KEYS =
      """
      SELECT u.id FROM unnest(?, ?, ?, ?) AS x (shard, queue, unique_key, id)
      JOIN lockstep.job_unique u ON u.shard = x.shard AND u.queue = x.queue
        AND u.unique_key = x.unique_key AND u.id = x.id AND u.expires_at IS NULL""";
  private static final String FREE_KEYS = KEYS + " FOR UPDATE OF u SKIP LOCKED";

  private final Connection connection;
  private final JobIds ids;

  RowLocks(Connection connection, JobIds ids) {
    this.connection = connection;
    this.ids = ids;
  }

  /** The jobs whose rows are not locked elsewhere. */
  List<Task> unlocked(Lease lease, List<Task> tasks) throws SQLException {
    RoundTrip trip = bounded(lease);
    Supplier<Set<JobId>> jobs = jobs(trip, tasks.stream().map(task -> task.row).toList());
    trip.send();
    Set<JobId> locked = jobs.get();
    return tasks.stream().filter(task -> !locked.contains(task.row.id())).toList();
  }

  /** The jobs that are locked, or whose unique keys are. */
  Set<JobId> lockedWithKeys(Lease lease, List<JobRow> rows) throws SQLException {
    RoundTrip trip = bounded(lease);
    Supplier<Set<JobId>> jobs = jobs(trip, rows);
    Supplier<Set<JobId>> keys =
        keys(trip, rows.stream().flatMap(row -> JobKey.of(row).stream()).toList());
    trip.send();
    Set<JobId> all = jobs.get();
    all.addAll(keys.get());
    return all;
  }

  /** The unique key of a job. */
  record JobKey(JobId id, String queue, String key) {
    static Optional<JobKey> of(JobRow row) {
      return Optional.ofNullable(row.uniqueKey())
          .map(key -> new JobKey(row.id(), row.queue(), key));
    }
  }

  /** The jobs whose keys are locked. */
  Set<JobId> lockedKeys(List<JobKey> some) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Supplier<Set<JobId>> keys = keys(trip, some);
    trip.send();
    return keys.get();
  }

  /** If this process freezes here, the row locks last no longer than a lease. */
  private RoundTrip bounded(Lease lease) {
    RoundTrip trip = new RoundTrip(connection);
    lease.bound(trip);
    return trip;
  }

  // Existing rows are read first: a row that ends in between counts as locked, and is checked again
  // later.

  private static Supplier<Set<JobId>> jobs(RoundTrip trip, List<JobRow> rows) {
    Object[] which = JobId.arrays(rows.stream().map(JobRow::id).toList());
    Rows<JobId> there = trip.query(JOBS, JobId::read, which);
    Rows<JobId> free = trip.query(FREE_JOBS, JobId::read, which);
    return () -> without(there, free);
  }

  private Supplier<Set<JobId>> keys(RoundTrip trip, List<JobKey> keys) {
    if (keys.isEmpty()) {
      return Set::of;
    }
    Object[] which = {
      SqlArray.smallints(
          keys.stream().map(one -> (short) ids.shardOf(one.queue(), one.key())).toList()),
      SqlArray.texts(keys.stream().map(JobKey::queue).toList()),
      SqlArray.texts(keys.stream().map(JobKey::key).toList()),
      SqlArray.uuids(keys.stream().map(one -> one.id().value()).toList())
    };
    Rows<JobId> there = trip.query(KEYS, JobId::read, which);
    Rows<JobId> free = trip.query(FREE_KEYS, JobId::read, which);
    return () -> without(there, free);
  }

  private static Set<JobId> without(Rows<JobId> all, Rows<JobId> some) {
    Set<JobId> left = new HashSet<>(all.list());
    some.list().forEach(left::remove);
    return left;
  }
}
