package dev.lockstep.job;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Checks before a job begins that its row is unchanged: a job read ahead may have been cancelled or
 * edited since. A row seen a moment ago is not checked again, and one query checks several upcoming
 * jobs; otherwise the check would slow down short jobs, of which thousands begin per round trip. A
 * job changed on this node is always checked.
 */
final class RowCheck {
  /** The greatest age of a row when its job begins. */
  static final Duration MAX_AGE = Duration.ofMillis(5);

  /** The same for queues of short jobs. */
  static final Duration MAX_AGE_OF_SHORT = Duration.ofMillis(100);

  private static final int MAX_AHEAD = 4_096;

  enum RowState {
    UNCHANGED,
    CHANGED,
    /** An open transaction is changing it. */
    UNDECIDED
  }

  /** Measures how fast one runner's jobs follow each other. For one thread. */
  static final class Pace {
    private static final long SHORT_NANOS = Duration.ofMillis(2).toNanos();
    // Out of the last 64. The slack forgives a thread that waited for a processor.
    private static final int MOST = 48;

    private long lastNanos = System.nanoTime();
    // One bit per recent job: whether the next began soon after it. Starts as slow.
    private long soon;
    private double averageNanos = MAX_AGE.toNanos();

    private void begins(long nanos) {
      long gap = nanos - lastNanos;
      lastNanos = nanos;
      soon = soon << 1 | (gap < SHORT_NANOS ? 1 : 0);
      averageNanos += (Math.min(gap, MAX_AGE.toNanos()) - averageNanos) / 64;
    }

    private long maxAgeNanos() {
      return (Long.bitCount(soon) >= MOST ? MAX_AGE_OF_SHORT : MAX_AGE).toNanos();
    }

    /** How many jobs all runners together begin before a row read now is too old. */
    private int beginningSoon(int runners) {
      return (int) Math.min(MAX_AHEAD, runners * maxAgeNanos() / averageNanos);
    }
  }

  private final JobReads reads;
  // One query at a time: its answer often spares the next thread its own.
  private final ReentrantLock asking = new ReentrantLock();

  RowCheck(JobReads reads) {
    this.reads = reads;
  }

  /** Call after a job has begun and before its handler runs. */
  RowState of(Task task, Pace pace) {
    pace.begins(task.startedNanos());
    long maxAgeNanos = pace.maxAgeNanos();
    if (!task.mayHaveChanged && task.startedNanos() - task.seenNanos > maxAgeNanos) {
      asking.lock();
      try {
        boolean seenMeanwhile = System.nanoTime() - task.seenNanos <= maxAgeNanos;
        if (!seenMeanwhile && !ask(task, pace)) {
          return RowState.CHANGED;
        }
      } finally {
        asking.unlock();
      }
    }
    RowState state = RowState.UNCHANGED;
    while (task.mayHaveChanged && state == RowState.UNCHANGED) {
      task.mayHaveChanged = false;
      state = reads.stateDespiteChanges(task);
    }
    return state;
  }

  private boolean ask(Task task, Pace pace) {
    QueueState queue = task.stream.state;
    List<Task> tasks = new ArrayList<>();
    tasks.add(task);
    tasks.addAll(queue.peek(pace.beginningSoon(queue.config.concurrency())));
    long askedNanos = System.nanoTime();
    Set<JobId> unchanged = reads.unchanged(tasks);
    for (Task one : tasks) {
      if (unchanged.contains(one.row.id())) {
        one.seenNanos = askedNanos;
      }
    }
    return unchanged.contains(task.row.id());
  }
}
