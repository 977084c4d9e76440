package dev.lockstep.job;

import dev.lockstep.shard.Lease;
import java.util.Arrays;

/**
 * The condition under which the database accepts results.
 *
 * @param byMark false: the epoch of the shard. True, for jobs that run on after their shard was
 *     handed over: this node's mark in the job's row
 */
record ResultFence(Lease lease, boolean byMark) {
  static ResultFence of(Task task) {
    return new ResultFence(task.lease, task.is(TaskState.HANDED_OVER));
  }

  String in(String sql) {
    return sql.formatted(byMark ? "j.keeper = ?" : Lease.FENCE);
  }

  Object[] bind(Object... own) {
    if (!byMark) {
      return lease.fenced(own);
    }
    Object[] all = Arrays.copyOf(own, own.length + 1);
    all[own.length] = lease.member();
    return all;
  }

  short shard() {
    return (short) lease.shard();
  }
}
