package dev.lockstep.job;

import dev.lockstep.shard.Lease;

/** One job in memory, from being read until its result is written. Guarded by the board's lock. */
final class Task {
  enum State {
    /** Behind others of its lane. */
    WAITING,
    READY,
    RUNNING,
    /** Written, or given back. Remembered until no read that is under way can return it. */
    ENDED
  }

  final JobRow row;
  final JobStream stream;
  final Lease lease;
  State state = State.WAITING;
  long startedNanos;
  // Its row says who runs it.
  boolean marked;
  // Its shard was handed over while it ran; its own row says who has it.
  volatile boolean kept;
  volatile boolean lost;

  Task(JobRow row, JobStream stream) {
    this.row = row;
    this.stream = stream;
    this.lease = stream.lease;
  }

  boolean holdsLease() {
    return !lost && (kept ? lease.isMemberLive() : lease.isLive());
  }
}
