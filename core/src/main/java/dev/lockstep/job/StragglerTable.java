package dev.lockstep.job;

import dev.lockstep.shard.Lease;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Records stragglers ({@code job_away}): jobs of lanes that still run at a node that has handed
 * their shard over. The next owner keeps their lanes waiting, whatever happens to the jobs' rows
 * meanwhile: a job that is edited or cancelled while it runs still runs.
 *
 * <p>A record is written before the shard is given up, in the transaction that marks the rows.
 * Three things remove it: the job's result, accepted or refused; {@link #removeEnded}, if the
 * result was written without knowing of the record; and the shard's owner, once the node is gone.
 * Thread-safe.
 */
final class StragglerTable {
  private static final String RECORD =
      """
      INSERT INTO lockstep.job_away (shard, member, id, run, queue, priority, lane)
      SELECT ?, ?, x.* FROM unnest(?, ?, ?, ?, ?) AS x (id, run, queue, priority, lane)
      WHERE %s
      ON CONFLICT (shard, id, member, run) DO NOTHING""";

  private static final String REMOVE =
      "DELETE FROM lockstep.job_away WHERE shard = ? AND id = ? AND member = ? AND run = ?";

  private static final String READ =
      """
      SELECT DISTINCT a.id, a.queue, a.priority, a.lane, a.member
      FROM unnest(?) AS x (shard) JOIN lockstep.job_away a ON a.shard = x.shard""";

  private static final String REMOVE_LOST =
      """
      DELETE FROM lockstep.job_away a USING unnest(?, ?) AS x (id, member)
      WHERE a.shard = ? AND a.id = x.id AND a.member = x.member AND %s"""
          .formatted(Lease.FENCE);

  // Each record takes its own statements, and a round trip is limited to 65,535 parameters.
  private static final int REMOVAL_BATCH = 1_000;

  private final Transactor transactor;
  private final TxOptions options;
  // Records that exist or may exist, since a COMMIT's answer can be lost. They stay here until the
  // removal is certain.
  private final Set<Task> recorded = ConcurrentHashMap.newKeySet();

  StragglerTable(Transactor transactor) {
    this.transactor = transactor;
    this.options = transactor.defaults().withLabel("jobs away").withIndexLookups();
  }

  /** Adds records for the jobs that are in lanes. The lease fences them. */
  static void record(RoundTrip trip, Lease lease, List<Task> tasks) {
    List<Task> recorded = inLanes(tasks);
    if (!recorded.isEmpty()) {
      trip.update(RECORD.formatted(Lease.FENCE), lease.fenced(parameters(lease, recorded)));
    }
  }

  /** Adds the removal of an ended job's record, if the job is in a lane. */
  static void remove(RoundTrip trip, Task task) {
    if (task.row.lane() != null) {
      trip.update(
          REMOVE,
          (short) task.lease.shard(),
          task.row.id().value(),
          task.lease.member(),
          task.startedNanos());
    }
  }

  /** Call after records were written, or may have been. */
  void recorded(List<Task> tasks) {
    recorded.addAll(inLanes(tasks));
  }

  private static List<Task> inLanes(List<Task> tasks) {
    return tasks.stream().filter(task -> task.row.lane() != null).toList();
  }

  /**
   * Removes the records of jobs that have ended on this node. If a record's COMMIT went unanswered,
   * it may still be in progress; inserting the record again first waits for that to be decided.
   */
  void removeEnded() {
    List<Task> ended = recorded.stream().filter(task -> task.is(TaskState.ENDED)).toList();
    for (int from = 0; from < ended.size(); from += REMOVAL_BATCH) {
      remove(ended.subList(from, Math.min(ended.size(), from + REMOVAL_BATCH)));
    }
  }

  private void remove(List<Task> ended) {
    transactor.run(
        options,
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          for (Task task : ended) {
            trip.update(RECORD.formatted("true"), parameters(task.lease, List.of(task)));
            remove(trip, task);
          }
          trip.send();
        });
    ended.forEach(recorded::remove);
  }

  private static Object[] parameters(Lease lease, List<Task> tasks) {
    List<JobRow> rows = tasks.stream().map(task -> task.row).toList();
    return new Object[] {
      (short) lease.shard(),
      lease.member(),
      SqlArray.uuids(rows.stream().map(row -> row.id().value()).toList()),
      SqlArray.bigints(tasks.stream().map(Task::startedNanos).toList()),
      SqlArray.texts(rows.stream().map(JobRow::queue).toList()),
      SqlArray.smallints(rows.stream().map(row -> row.priority().code()).toList()),
      SqlArray.texts(rows.stream().map(JobRow::lane).toList())
    };
  }

  /** Reads the records of these shards. */
  List<Straggler> read(Collection<Lease> leases) {
    return Straggler.list(transactor, options, READ, leases);
  }

  /** Removes records of dead nodes. */
  void removeLost(Lease lease, List<Straggler> lost) {
    transactor.run(
        options,
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          lease.bound(trip);
          trip.update(
              REMOVE_LOST,
              lease.fenced(
                  SqlArray.uuids(lost.stream().map(one -> one.id().value()).toList()),
                  SqlArray.uuids(lost.stream().map(Straggler::member).toList()),
                  (short) lease.shard()));
          trip.send();
        });
  }
}
