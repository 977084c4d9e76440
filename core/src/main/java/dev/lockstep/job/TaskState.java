package dev.lockstep.job;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * The life of a job in a worker's memory, from being read until its result is written.
 *
 * <pre>
 *    read ──→ WAITING ──place in the lane──→ READY ──begin──→ RUNNING ──→ ENDED
 *                │                             │                 │
 *                └────────── give back ────────┴──→ ENDED        ├─ a lock delays the result ──→ DEFERRED
 *                                                                │                                  │
 *                                                                ├─────────── hand over ────────────┼──→ HANDED_OVER ──→ ENDED
 *                                                                └─────────── lease lost ───────────┴──→ LOST ─────────→ ENDED
 * </pre>
 *
 * {@link WorkerMemory} makes all moves under its lock, with these exceptions: a runner begins a
 * job, and a result writer defers or hands over one. Every move is therefore a compare-and-set. A
 * move that the table does not allow is a bug and throws.
 */
enum TaskState {
  /** Behind other jobs of its lane. */
  WAITING,
  /** In its queue, for the next free runner. */
  READY,
  /**
   * Begun. Its queue reads no further ahead than its limit of running jobs and unwritten results.
   */
  RUNNING,
  /** Its result waits for a lock of another transaction. Does not keep its queue from reading. */
  DEFERRED,
  /** Its shard was handed over while it ran. The mark in its row, not the shard, is its lease. */
  HANDED_OVER,
  /** Its shard was lost while it ran. Its result will be refused. */
  LOST,
  /** Its result is written, or it was given back. Kept until no read under way can return it. */
  ENDED;

  private static final Map<TaskState, Set<TaskState>> MOVES =
      new EnumMap<>(
          Map.of(
              WAITING, EnumSet.of(READY, ENDED),
              READY, EnumSet.of(RUNNING, ENDED),
              RUNNING, EnumSet.of(DEFERRED, HANDED_OVER, LOST, ENDED),
              DEFERRED, EnumSet.of(HANDED_OVER, LOST, ENDED),
              HANDED_OVER, EnumSet.of(ENDED),
              LOST, EnumSet.of(ENDED),
              ENDED, EnumSet.noneOf(TaskState.class)));

  /** Whether the table of moves has this one. */
  @SuppressWarnings("NullAway") // each state has its row
  boolean canBecome(TaskState next) {
    return MOVES.get(this).contains(next);
  }

  /** Whether its handler has been or may be called, and no result is written. */
  boolean isBegun() {
    return this != WAITING && this != READY && this != ENDED;
  }

  /** Hears of every move; for tests. Called on the moving thread, perhaps under a lock. */
  @FunctionalInterface
  interface Observer {
    Observer NONE = (job, from, to) -> {};

    void moved(JobId job, TaskState from, TaskState to);
  }
}
