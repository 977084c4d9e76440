package dev.lockstep.job;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The owner's knowledge of one lane. A lane lies in one shard, so this is all there is to know.
 *
 * <p>A lane is <em>open</em> while all its due jobs up to the pass's position are in memory: the
 * pass brings the next ones. It is <em>closed</em> once one was left in the table. The pass then
 * skips the lane, and separate reads fetch its jobs until all are in memory.
 */
final class LaneState {
  final String name;
  private final ArrayDeque<Task> waiting = new ArrayDeque<>();
  private int running;
  private int stragglers;
  private boolean closed;
  // Where the next read of the lane continues; null: at its beginning.
  private @Nullable JobRow last;
  // Changes when the result of a read under way no longer says what comes next.
  private int generation;

  LaneState(String name) {
    this.name = name;
  }

  boolean isClosed() {
    return closed;
  }

  boolean isIdle() {
    return running == 0 && waiting.isEmpty() && stragglers == 0 && !closed;
  }

  int waiting() {
    return waiting.size();
  }

  /** All its due jobs are in memory. */
  void open() {
    closed = false;
    last = null;
  }

  /** Leaves further jobs in the table; the next read starts at the beginning of the lane. */
  void closeFromBeginning() {
    closed = true;
    last = null;
  }

  /** Leaves the jobs behind those in memory in the table. */
  void closeAfterLast() {
    closed = true;
    Task newest = waiting.peekLast();
    last = newest == null ? null : newest.row;
  }

  /** The lane was read up to this row; later rows are not in memory. */
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

  /** Takes a place if one is free and no job waits; the task is then ready. */
  boolean enter(int limit) {
    if (waiting.isEmpty() && running + stragglers < limit) {
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

  /** Counts a straggler; it occupies a place. */
  void enterStraggler() {
    stragglers++;
  }

  void leaveStraggler() {
    stragglers--;
  }

  /** Whether the next waiting job may run, by its own limit: limits within a lane may differ. */
  boolean hasPlace() {
    Task next = waiting.peek();
    return next != null && running + stragglers < next.row.laneLimit();
  }

  Task promote() {
    running++;
    return waiting.remove();
  }

  /** Drops the waiting jobs. They are read again, in the order they have then. */
  ArrayDeque<Task> giveUpWaiting() {
    ArrayDeque<Task> all = new ArrayDeque<>(waiting);
    waiting.clear();
    closeFromBeginning();
    generation++;
    return all;
  }
}
