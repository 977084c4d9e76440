package dev.lockstep.job;

import java.util.ArrayDeque;

/** What the owner knows of one lane. All of a lane is in one shard, so this is all there is. */
final class LaneState {
  /** Jobs of one lane kept at hand behind those that run; more are read when these are gone. */
  private static final int MAX_WAITING = 64;

  private final ArrayDeque<Task> waiting = new ArrayDeque<>();
  private int running;
  // Under an earlier lease of the shard, here or at another node.
  private int away;
  // Something of the lane was passed over: what follows must be, too, until the next pass.
  private boolean closed;

  void startPass() {
    closed = false;
  }

  void close() {
    closed = true;
  }

  boolean isClosed() {
    return closed;
  }

  boolean isIdle() {
    return running == 0 && waiting.isEmpty() && away == 0 && !closed;
  }

  /** Little is left at hand. */
  boolean isLow() {
    return waiting.size() < MAX_WAITING / 4;
  }

  /** Takes a place at once if there is one; the task is then ready. */
  boolean enter(int limit) {
    if (waiting.isEmpty() && running + away < limit) {
      running++;
      return true;
    }
    return false;
  }

  /** False, and closed, if there are too many at hand already. */
  boolean queue(Task task) {
    if (waiting.size() >= MAX_WAITING) {
      closed = true;
      return false;
    }
    waiting.add(task);
    return true;
  }

  void leave() {
    running--;
  }

  /** A job of the lane runs under an earlier lease, and has a place. */
  void enterAway() {
    away++;
  }

  void leaveAway() {
    away--;
  }

  /** For the next that waits, by its own limit: those of a lane may differ. */
  boolean hasPlace() {
    Task next = waiting.peek();
    return next != null && running + away < next.row.laneLimit();
  }

  Task promote() {
    running++;
    return waiting.remove();
  }

  /** Gives up all that wait, and what follows: they are read again, in the order they have then. */
  ArrayDeque<Task> giveUpWaiting() {
    ArrayDeque<Task> all = new ArrayDeque<>(waiting);
    waiting.clear();
    closed = true;
    return all;
  }
}
