package dev.lockstep.job;

import dev.lockstep.shard.Lease;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A job in memory, from being read until its result is written. Guarded by the board's lock, except
 * the step from ready to running, which the handler's thread takes.
 */
final class Task {
  enum State {
    /** Waits behind others of its lane. */
    WAITING,
    READY,
    RUNNING,
    /** Result written, or given back. Kept until no read under way can return it. */
    ENDED
  }

  /**
   * A task whose result is written, or finally refused.
   *
   * @param again in how many milliseconds it is due, or must be read, again; negative: never, or at
   *     once if refused
   * @param refused the row differs from what this node knows, so the table must be read again
   */
  record Settled(Task task, long again, boolean refused) {
    static Settled refused(Task task) {
      return new Settled(task, -1, true);
    }

    /** Like {@link #refused}, when reading at once would find the same. */
    static Settled postponed(Task task, long ms) {
      return new Settled(task, ms, true);
    }
  }

  final JobRow row;
  final JobStream stream;
  final Lease lease;
  private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);
  // Whether the queue still counts it as unsettled.
  private final AtomicBoolean counted = new AtomicBoolean(true);
  // Written before the state becomes RUNNING; read only after.
  private long startedNanos;
  // When its row was last known to be unchanged.
  volatile long seenNanos;
  // This node has changed the job in a transaction that may or may not commit.
  volatile boolean doubtful;
  // Its row names this node; or may, since such a write was sent.
  volatile boolean marked;
  volatile boolean mayBeMarked;
  // Its shard was handed over while it ran; its row is now its lease.
  volatile boolean kept;
  volatile boolean lost;

  /**
   * @param seenNanos when its read was asked for
   */
  Task(JobRow row, JobStream stream, long seenNanos) {
    this.row = row;
    this.stream = stream;
    this.lease = stream.lease;
    this.seenNanos = seenNanos;
    // This node's own mark, left over.
    this.marked = row.keeper() != null;
    this.mayBeMarked = marked;
  }

  boolean is(State asked) {
    return state.get() == asked;
  }

  void ready() {
    state.set(State.READY);
  }

  /** Called without the board's lock; false if the job was given back meanwhile. */
  boolean begin() {
    startedNanos = System.nanoTime();
    return state.compareAndSet(State.READY, State.RUNNING);
  }

  /** When it began. */
  long startedNanos() {
    return startedNanos;
  }

  boolean hasRunSince(long nanos) {
    return is(State.RUNNING) && startedNanos - nanos < 0;
  }

  /** Ends the task; false if it had ended before. */
  boolean end() {
    return state.getAndSet(State.ENDED) != State.ENDED;
  }

  /** Ends it unless it is running. */
  boolean giveBack() {
    return state.compareAndSet(State.READY, State.ENDED)
        || state.compareAndSet(State.WAITING, State.ENDED);
  }

  /** Stops counting the task as unsettled; true on the first call. */
  boolean isNoLongerCounted() {
    return counted.getAndSet(false);
  }

  boolean holdsLease() {
    return !lost && (kept ? lease.isMemberLive() : lease.isLive());
  }
}
