package dev.lockstep.job;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A queue as a worker serves it. Guarded by the board's lock, except for taking the next job, which
 * needs none as long as there is one and nothing limits it: with many short jobs that lock would be
 * what they all wait for.
 */
final class QueueState {
  final QueueConfig config;
  final Condition work;
  // By the code of their priority: the first first.
  private final List<Queue<Task>> ready = new ArrayList<>();
  private final AtomicInteger readyCount = new AtomicInteger();
  // Begun, and their results not written yet.
  private final AtomicInteger unsettled = new AtomicInteger();
  private volatile boolean paused;
  // Starts a second at this node; 0: no limit.
  private volatile double rate;
  private long nextStartNanos = System.nanoTime();

  QueueState(QueueConfig config, Condition work) {
    this.config = config;
    this.work = work;
    Stream.of(Priority.values()).forEach(priority -> ready.add(new ConcurrentLinkedQueue<>()));
  }

  /** False if that is how it was. */
  boolean set(boolean paused, double rate) {
    if (this.paused == paused && this.rate == rate) {
      return false;
    }
    this.paused = paused;
    this.rate = rate;
    // A start that a slower rate put far off comes sooner now.
    nextStartNanos = System.nanoTime() + Math.min(gapNanos(), nextStartNanos - System.nanoTime());
    return true;
  }

  private long gapNanos() {
    return rate <= 0 ? 0 : (long) (1_000_000_000L / rate);
  }

  boolean isPaused() {
    return paused;
  }

  void add(Task task) {
    task.ready();
    readyCount.incrementAndGet();
    ready.get(task.row.priority().code()).add(task);
    work.signal();
  }

  /** How many more are wanted at hand. */
  int wanted() {
    return isBehind() ? 0 : Math.max(0, config.readAhead() - readyCount.get());
  }

  boolean isLow() {
    return !isBehind() && readyCount.get() <= config.readAhead() / 2;
  }

  /** Paused, or so many results are still to be written that reading more would help nobody. */
  private boolean isBehind() {
    return paused || unsettled.get() > config.readAhead() + config.concurrency();
  }

  /** Nothing but the number of jobs says when the next may begin. */
  boolean isUnlimited() {
    return !paused && rate <= 0;
  }

  /** The next one to run. Begin it; it may have been given back. */
  @Nullable Task poll() {
    for (Queue<Task> tasks : ready) {
      Task task = tasks.poll();
      if (task != null) {
        return task;
      }
    }
    return null;
  }

  /** A ready one is running. True: now is the time to read more. */
  boolean begun() {
    unsettled.incrementAndGet();
    int left = readyCount.decrementAndGet();
    return left == 0 || left == config.readAhead() / 2;
  }

  void settled() {
    unsettled.decrementAndGet();
  }

  boolean hasReady() {
    return readyCount.get() > 0;
  }

  void gaveBack() {
    readyCount.decrementAndGet();
  }

  /** How long the rate makes the next start wait; 0 if it may be now, which is then counted. */
  long nanosUntilStart() {
    if (rate <= 0) {
      return 0;
    }
    long now = System.nanoTime();
    long wait = nextStartNanos - now;
    if (wait > 0) {
      return wait;
    }
    nextStartNanos = now + gapNanos();
    return 0;
  }
}
