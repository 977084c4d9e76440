package dev.lockstep.job;

import dev.lockstep.shard.Lease;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/**
 * One job in memory, from being read until its result is written. Guarded by the board's lock, but
 * for the one step that every job takes on its handler's thread: from ready to running.
 */
final class Task {
  enum State {
    /** Behind others of its lane. */
    WAITING,
    READY,
    RUNNING,
    /** Written, or given back. Remembered until no read that is under way can return it. */
    ENDED
  }

  /**
   * One whose result is written, or refused for good.
   *
   * @param again in how many milliseconds it will be due, or should be read, again; negative:
   *     never, or at once
   * @param refused the row is not what this node thinks: only the table says what comes next
   */
  record Settled(Task task, long again, boolean refused) {
    static Settled refused(Task task) {
      return new Settled(task, -1, true);
    }

    /** As {@link #refused}, where reading again at once would find the same. */
    static Settled postponed(Task task, long ms) {
      return new Settled(task, ms, true);
    }
  }

  final JobRow row;
  final JobStream stream;
  final Lease lease;
  private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);
  // Among the results that its queue has to wait for.
  private final AtomicBoolean counted = new AtomicBoolean(true);
  // Written before the job is running, and read of those that are.
  private long startedNanos;
  // When its row was last known to be as it was read.
  volatile long seenNanos;
  // Somebody on this very node has changed the job, in a transaction that may commit or not.
  volatile boolean doubtful;
  // Its row says who runs it, or may say so: such a write was sent.
  volatile boolean marked;
  volatile boolean mayBeMarked;
  // Its shard was handed over while it ran; its own row says who has it.
  volatile boolean kept;
  volatile boolean lost;

  /**
   * @param seenNanos when it was asked for
   */
  Task(JobRow row, JobStream stream, long seenNanos) {
    this.row = row;
    this.stream = stream;
    this.lease = stream.lease;
    this.seenNanos = seenNanos;
    // A mark of this node's own that nobody took back.
    this.marked = row.keeper() != null;
    this.mayBeMarked = marked;
  }

  boolean is(State asked) {
    return state.get() == asked;
  }

  void ready() {
    state.set(State.READY);
  }

  /** Without the board's lock; false if the job was given back meanwhile. */
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

  /** False if it had ended before. */
  boolean end() {
    return state.getAndSet(State.ENDED) != State.ENDED;
  }

  /** Ends it unless it is running. */
  boolean giveBack() {
    return state.compareAndSet(State.READY, State.ENDED)
        || state.compareAndSet(State.WAITING, State.ENDED);
  }

  /** True once. */
  boolean isNoLongerCounted() {
    return counted.getAndSet(false);
  }

  boolean holdsLease() {
    return !lost && (kept ? lease.isMemberLive() : lease.isLive());
  }
}
