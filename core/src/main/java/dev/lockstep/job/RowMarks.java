package dev.lockstep.job;

import dev.lockstep.shard.Lease;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Sets and clears marks, in the caller's transaction. A mark (column {@code keeper}) names the node
 * that runs the job. It is set only under the shard's lease, and only by the node itself.
 */
final class RowMarks {
  // Locks the jobs' rows, in the order of the scan; the caller has no other row locks.
  private static final String MARK =
      """
      UPDATE lockstep.job j SET keeper = ?
      FROM unnest(?, ?) AS x (id, version)
      WHERE j.shard = ? AND j.id = x.id AND j.version = x.version AND %s
      RETURNING j.id"""
          .formatted(Lease.FENCE);

  private static final String CLEAR =
      "UPDATE lockstep.job SET keeper = NULL WHERE shard = ? AND id = ? AND keeper = ?";

  private final Connection connection;

  RowMarks(Connection connection) {
    this.connection = connection;
  }

  /**
   * Marks running jobs of one shard.
   *
   * @return the jobs that are unchanged and now marked
   */
  Set<JobId> mark(Lease lease, List<Task> tasks) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    lease.bound(trip);
    return mark(trip, lease, tasks);
  }

  /**
   * Marks running jobs whose shard is being handed over, and records those of lanes as stragglers:
   * their lanes must wait for them.
   */
  Set<JobId> markForHandOver(Lease lease, List<Task> tasks) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    lease.bound(trip);
    StragglerTable.record(trip, lease, tasks);
    return mark(trip, lease, tasks);
  }

  private static Set<JobId> mark(RoundTrip trip, Lease lease, List<Task> tasks)
      throws SQLException {
    Rows<JobId> marked =
        trip.query(
            MARK,
            JobId::read,
            lease.fenced(
                lease.member(),
                SqlArray.uuids(tasks.stream().map(task -> task.row.id().value()).toList()),
                SqlArray.integers(tasks.stream().map(task -> task.row.version()).toList()),
                (short) lease.shard()));
    trip.send();
    return new HashSet<>(marked.list());
  }

  /** Adds the removal of this node's mark, so that the job's next reader may run it. */
  static void clear(RoundTrip trip, Task task) {
    trip.update(CLEAR, (short) task.row.id().shard(), task.row.id().value(), task.lease.member());
  }
}
