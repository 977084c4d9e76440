package dev.lockstep.job;

import dev.lockstep.shard.Lease;
import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import dev.lockstep.tx.SqlArray;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * Finds out which jobs have rows that other transactions have locked, without waiting for any of
 * them. The rows of the others are locked from then on, in the caller's transaction, so that
 * whatever it writes to them waits for nobody either. A job that is not there has no locked rows.
 */
final class RowLocks {
  private static final String JOBS =
      """
      SELECT j.id FROM unnest(?, ?) AS x (shard, id)
      JOIN lockstep.job j ON j.shard = x.shard AND j.id = x.id""";
  private static final String FREE_JOBS = JOBS + " FOR UPDATE OF j SKIP LOCKED";

  // Also locked by somebody who was only told that the key is taken.
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

  /** Those of the jobs whose own rows nobody else has locked. */
  List<Task> unlocked(Lease lease, List<Task> tasks) throws SQLException {
    RoundTrip trip = bounded(lease);
    Supplier<Set<JobId>> jobs = jobs(trip, tasks.stream().map(task -> task.row).toList());
    trip.send();
    Set<JobId> locked = jobs.get();
    return tasks.stream().filter(task -> !locked.contains(task.row.id())).toList();
  }

  /** Those of the jobs that are locked, or have keys that are. */
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

  /** Should this process stop here, the rows are locked no longer than a lease. */
  private RoundTrip bounded(Lease lease) {
    RoundTrip trip = new RoundTrip(connection);
    lease.bound(trip);
    return trip;
  }

  // What is there comes first: what ends in between is taken for locked, and looked at again.

  private static Supplier<Set<JobId>> jobs(RoundTrip trip, List<JobRow> rows) {
    Object[] which = {
      SqlArray.smallints(rows.stream().map(row -> (short) row.id().shard()).toList()), uuids(rows)
    };
    Rows<JobId> there = trip.query(JOBS, RowLocks::id, which);
    Rows<JobId> free = trip.query(FREE_JOBS, RowLocks::id, which);
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
    Rows<JobId> there = trip.query(KEYS, RowLocks::id, which);
    Rows<JobId> free = trip.query(FREE_KEYS, RowLocks::id, which);
    return () -> without(there, free);
  }

  private static Set<JobId> without(Rows<JobId> all, Rows<JobId> some) {
    Set<JobId> left = new HashSet<>(all.list());
    some.list().forEach(left::remove);
    return left;
  }

  private static SqlArray uuids(List<JobRow> rows) {
    return SqlArray.uuids(rows.stream().map(row -> row.id().value()).toList());
  }

  private static JobId id(ResultSet row) throws SQLException {
    return new JobId(row.getObject(1, UUID.class));
  }
}
