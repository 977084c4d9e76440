package dev.lockstep.job;

import dev.lockstep.shard.Lease;
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
   * @param again in how many milliseconds it will be due again; negative: never
   */
  record Settled(Task task, long again) {}

  final JobRow row;
  final JobStream stream;
  final Lease lease;
  private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);
  // Written before the job is running, and read of those that are.
  private long startedNanos;
  // Its row says who runs it.
  volatile boolean marked;
  // Its shard was handed over while it ran; its own row says who has it.
  volatile boolean kept;
  volatile boolean lost;

  Task(JobRow row, JobStream stream) {
    this.row = row;
    this.stream = stream;
    this.lease = stream.lease;
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

  boolean holdsLease() {
    return !lost && (kept ? lease.isMemberLive() : lease.isLive());
  }
}
