package dev.lockstep.job;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * The life of a job in a worker's memory, from being read until its result is written.
 *
 * <pre>
 *   (read)      ─── its stream was read ──────→ WAITING
 *   WAITING     ─┬─ a place in its lane ──────→ READY
 *                └─ given back ───────────────→ ENDED
 *   READY       ─┬─ a runner begins it ───────→ RUNNING
 *                └─ given back ───────────────→ ENDED
 *   RUNNING     ─┬─ its result meets a lock ──→ LOCKED
 *                ├─ its shard is handed over ─→ HANDED_OVER
 *                ├─ its shard is lost ────────→ LOST
 *                └─ result written, refused ──→ ENDED
 *   LOCKED      ─┬─ its shard is handed over ─→ HANDED_OVER
 *                ├─ its shard is lost ────────→ LOST
 *                └─ result written, refused ──→ ENDED
 *   HANDED_OVER ─── result written, refused ──→ ENDED
 *   LOST        ─── result refused ───────────→ ENDED
 * </pre>
 *
 * <p>Threads: {@link WorkerMemory} moves jobs under its lock. Without it, a runner begins a job
 * ({@link Task#begin}), and a result writer moves one to LOCKED or HANDED_OVER. So every move is a
 * compare-and-set. A move that the table does not allow is a bug, and throws.
 */
enum TaskState {
  /** Behind other jobs of its lane. */
  WAITING,
  /** In its queue, for the next free runner. */
  READY,
  /** Begun, until its result is written. While a queue has too many of these, it reads no more. */
  RUNNING,
  /** Another transaction has locked it; its result waits. Does not keep its queue from reading. */
  LOCKED,
  /** Its shard was handed over while it ran. The mark in its row, not the shard, is its lease. */
  HANDED_OVER,
  /** Its shard was lost while it ran. Its result will be refused. */
  LOST,
  /** Result written or refused, or job given back. Kept until no read under way can return it. */
  ENDED;

  private static final Map<TaskState, Set<TaskState>> MOVES =
      new EnumMap<>(
          Map.of(
              WAITING, EnumSet.of(READY, ENDED),
              READY, EnumSet.of(RUNNING, ENDED),
              RUNNING, EnumSet.of(LOCKED, HANDED_OVER, LOST, ENDED),
              LOCKED, EnumSet.of(HANDED_OVER, LOST, ENDED),
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

  /** Receives every move; for tests. Called on the moving thread, perhaps under a lock. */
  @FunctionalInterface
  interface Observer {
    Observer NONE = (job, from, to) -> {};

    void moved(JobId job, TaskState from, TaskState to);
  }
}
