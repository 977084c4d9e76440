package dev.lockstep.job;

import static dev.lockstep.job.TaskState.ENDED;
import static dev.lockstep.job.TaskState.HANDED_OVER;
import static dev.lockstep.job.TaskState.LOCKED;
import static dev.lockstep.job.TaskState.LOST;
import static dev.lockstep.job.TaskState.READY;
import static dev.lockstep.job.TaskState.RUNNING;
import static dev.lockstep.job.TaskState.WAITING;

import dev.lockstep.shard.Lease;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/** A job in a worker's memory. {@link TaskState} has its life. Thread-safe. */
final class Task {
  /**
   * How a task ended: its result is written, or finally refused.
   *
   * @param againMs in how many milliseconds it is due, or must be read, again; negative: never, or
   *     at once if refused
   * @param refused the row differs from what this node knows, so the table must be read again
   */
  record TaskEnd(Task task, long againMs, boolean refused) {
    static TaskEnd refused(Task task) {
      return new TaskEnd(task, -1, true);
    }

    /** Like {@link #refused}, when reading at once would find the same. */
    static TaskEnd postponed(Task task, long ms) {
      return new TaskEnd(task, ms, true);
    }
  }

  /** What this node knows of its mark in the job's row. Only ever grows. */
  private enum Mark {
    NONE,
    /** A write of the mark was sent. */
    POSSIBLE,
    WRITTEN
  }

  private static final AtomicReferenceFieldUpdater<Task, TaskState> STATE =
      AtomicReferenceFieldUpdater.newUpdater(Task.class, TaskState.class, "state");

  final JobRow row;
  final JobStream stream;
  final Lease lease;
  private volatile TaskState state = WAITING;
  // Written before the state becomes RUNNING; read only after.
  private long startedNanos;
  private volatile Mark mark;

  /** When the row was last known to be unchanged. */
  volatile long seenNanos;

  /** This node has changed the job in a transaction that may or may not commit. */
  volatile boolean mayHaveChanged;

  /**
   * @param seenNanos when its read was asked for
   */
  Task(JobRow row, JobStream stream, long seenNanos) {
    this.row = row;
    this.stream = stream;
    this.lease = stream.lease;
    this.seenNanos = seenNanos;
    // This node's own mark, left over.
    this.mark = row.markedBy() == null ? Mark.NONE : Mark.WRITTEN;
  }

  boolean is(TaskState asked) {
    return state == asked;
  }

  boolean isBegun() {
    return state.isBegun();
  }

  /** Moves if the task is in this state. */
  private boolean move(TaskState from, TaskState to) {
    if (!from.canBecome(to)) {
      throw new IllegalStateException("A task cannot go from %s to %s".formatted(from, to));
    }
    if (!STATE.compareAndSet(this, from, to)) {
      return false;
    }
    stream.state.moved(this, from, to);
    return true;
  }

  void ready() {
    if (!move(WAITING, READY)) {
      throw new IllegalStateException("Job %s is %s, not waiting".formatted(row.id(), state));
    }
  }

  /** Called without the memory's lock; false if the job was given back meanwhile. */
  boolean begin() {
    startedNanos = System.nanoTime();
    return move(READY, RUNNING);
  }

  /** When it began. */
  long startedNanos() {
    return startedNanos;
  }

  boolean hasRunSince(long nanos) {
    return isBegun() && startedNanos - nanos < 0;
  }

  /** Its result waits for a lock. Changes nothing once its shard is handed over or lost. */
  void awaitLock() {
    boolean unused = move(RUNNING, LOCKED);
  }

  /** Makes the mark in the row its lease. Changes nothing if its lease is lost. */
  void handOver() {
    boolean unused = move(RUNNING, HANDED_OVER) || move(LOCKED, HANDED_OVER);
  }

  /** Its result will be refused. Changes nothing unless it runs under the shard's lease. */
  void lose() {
    boolean unused = move(RUNNING, LOST) || move(LOCKED, LOST);
  }

  /** Ends the task; false if it had ended before. */
  boolean end() {
    TaskState now = state;
    while (now != ENDED && !move(now, ENDED)) {
      now = state;
    }
    return now != ENDED;
  }

  /** Ends it unless it has begun. */
  boolean giveBack() {
    return move(READY, ENDED) || move(WAITING, ENDED);
  }

  boolean holdsLease() {
    return switch (state) {
      case LOST -> false;
      case HANDED_OVER -> lease.isMemberLive();
      default -> lease.isLive();
    };
  }

  // ---- the mark in its row

  boolean isMarked() {
    return mark == Mark.WRITTEN;
  }

  boolean mayBeMarked() {
    return mark != Mark.NONE;
  }

  /** Call before the mark is sent: the answer may be lost. */
  synchronized void markSent() {
    mark = mark == Mark.NONE ? Mark.POSSIBLE : mark;
  }

  synchronized void markWritten() {
    mark = Mark.WRITTEN;
  }
}
