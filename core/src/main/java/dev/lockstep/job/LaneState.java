package dev.lockstep.job;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * What the owner knows of one lane. All of a lane is in one shard, so this is all there is.
 *
 * <p>A lane is <em>open</em> while all its due jobs that the pass has come to are in memory: the
 * pass brings the next ones. It is <em>closed</em> when one of them was passed over; the pass then
 * skips the lane, and the lane is read by itself until nothing of it is left in the table that is
 * not in memory.
 */
final class LaneState {
  final String name;
  private final ArrayDeque<Task> waiting = new ArrayDeque<>();
  private int running;
  // Under an earlier lease of the shard, here or at another node.
  private int away;
  private boolean closed;
  // Where a read of the lane goes on; null: at its beginning.
  private @Nullable JobRow last;
  // Changes when what a read under way returns is no longer what comes next.
  private int generation;

  LaneState(String name) {
    this.name = name;
  }

  boolean isClosed() {
    return closed;
  }

  boolean isIdle() {
    return running == 0 && waiting.isEmpty() && away == 0 && !closed;
  }

  int waiting() {
    return waiting.size();
  }

  /** All of it that is due is in memory. */
  void open() {
    closed = false;
    last = null;
  }

  /** What follows is passed over, and read from the beginning of the lane. */
  void closeFromBeginning() {
    closed = true;
    last = null;
  }

  /** What follows the jobs at hand is passed over. */
  void closeAfterLast() {
    closed = true;
    Task newest = waiting.peekLast();
    last = newest == null ? null : newest.row;
  }

  /** It was read up to this row, and what follows is not in memory. */
  void closeAfter(JobRow row) {
    closed = true;
    last = row;
  }

  @Nullable JobRow last() {
    return last;
  }

  int generation() {
    return generation;
  }

  /** Takes a place at once if there is one; the task is then ready. */
  boolean enter(int limit) {
    if (waiting.isEmpty() && running + away < limit) {
      running++;
      return true;
    }
    return false;
  }

  void queue(Task task) {
    waiting.add(task);
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
    closeFromBeginning();
    generation++;
    return all;
  }
}
