package dev.lockstep.job;

import dev.lockstep.shard.Lease;
import java.util.Arrays;

/**
 * The condition under which a result is accepted: the epoch of its shard or, for a job kept through
 * a handover, the node that its row names.
 */
record Fence(Lease lease, boolean kept) {
  String in(String sql) {
    return sql.formatted(kept ? "j.keeper = ?" : Lease.FENCE);
  }

  Object[] bind(Object... own) {
    if (!kept) {
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
