package dev.lockstep.job;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lets a job begin only as it is in the table: one that was read ahead may have been cancelled or
 * changed since. What was seen a moment ago is not asked about again, so that short jobs, of which
 * thousands begin in the time of one question, are not slowed down; and a question is asked for
 * several that will be next. A job that was changed on this very node is asked about in any case.
 */
final class Freshness {
  /** How old what is known of a job may be when it begins. */
  static final Duration MAX_AGE = Duration.ofMillis(5);

  /** The same where jobs are short. */
  static final Duration MAX_AGE_OF_SHORT = Duration.ofMillis(100);

  private static final int MAX_AHEAD = 4_096;

  enum Verdict {
    AS_READ,
    CHANGED,
    /** Somebody is changing it, in a transaction that is open. */
    UNDECIDED
  }

  /** How one runner's jobs follow each other. For one thread. */
  static final class Pace {
    private static final long SHORT_NANOS = Duration.ofMillis(2).toNanos();
    // Of the last 64: a thread that had to wait for a processor is not a job that takes long.
    private static final int MOST = 48;

    private long lastNanos = System.nanoTime();
    // A bit for each of the last jobs: whether the next began soon after it. Slow to begin with.
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

    /** How many of so many runners' jobs begin before what is known now is too old. */
    private int beginningSoon(int runners) {
      return (int) Math.min(MAX_AHEAD, runners * maxAgeNanos() / averageNanos);
    }
  }

  private final JobReads reads;
  // One question at a time: what it answers, the next may not have to ask.
  private final ReentrantLock asking = new ReentrantLock();

  Freshness(JobReads reads) {
    this.reads = reads;
  }

  /** To be asked of a job that has begun, before its handler runs. */
  Verdict of(Task task, Pace pace) {
    pace.begins(task.startedNanos());
    long maxAgeNanos = pace.maxAgeNanos();
    if (!task.doubtful && task.startedNanos() - task.seenNanos > maxAgeNanos) {
      asking.lock();
      try {
        boolean seenMeanwhile = System.nanoTime() - task.seenNanos <= maxAgeNanos;
        if (!seenMeanwhile && !ask(task, pace)) {
          return Verdict.CHANGED;
        }
      } finally {
        asking.unlock();
      }
    }
    Verdict verdict = Verdict.AS_READ;
    while (task.doubtful && verdict == Verdict.AS_READ) {
      task.doubtful = false;
      verdict = reads.askDespiteChanges(task);
    }
    return verdict;
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
