package dev.lockstep.job;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicIntegerArray;
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
  private final AtomicIntegerArray readyCounts = new AtomicIntegerArray(Priority.values().length);
  // Begun, and their results not written yet.
  private final AtomicIntegerArray unsettled = new AtomicIntegerArray(Priority.values().length);
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
    int code = task.row.priority().code();
    task.ready();
    readyCounts.incrementAndGet(code);
    ready.get(code).add(task);
    work.signal();
  }

  /** As many as are at least as urgent: what is less so is in nobody's way. */
  private static int upTo(Priority priority, AtomicIntegerArray counts) {
    int count = 0;
    for (int code = 0; code <= priority.code(); code++) {
      count += counts.get(code);
    }
    return count;
  }

  /** How many more of a priority are wanted at hand. */
  int wanted(Priority priority) {
    return isBehind(priority) ? 0 : Math.max(0, config.readAhead() - upTo(priority, readyCounts));
  }

  boolean isLow(Priority priority) {
    return !isBehind(priority) && upTo(priority, readyCounts) <= config.readAhead() / 2;
  }

  /** Paused, or so many results are still to be written that reading more would help nobody. */
  private boolean isBehind(Priority priority) {
    return paused || upTo(priority, unsettled) > config.readAhead() + config.concurrency();
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

  /** Some that will be next, in order. */
  List<Task> peek(int count) {
    return ready.stream().flatMap(Queue::stream).limit(count).toList();
  }

  /** A ready one is running. True: now is the time to read more. */
  boolean begun(Task task) {
    unsettled.incrementAndGet(task.row.priority().code());
    int left = readyCounts.decrementAndGet(task.row.priority().code());
    return left == 0 || left == config.readAhead() / 2;
  }

  /** Its result is written, or waits for somebody's lock, perhaps for long. */
  void settled(Task task) {
    if (task.isNoLongerCounted()) {
      unsettled.decrementAndGet(task.row.priority().code());
    }
  }

  boolean hasReady() {
    return upTo(Priority.LOW, readyCounts) > 0;
  }

  void gaveBack(Task task) {
    readyCounts.decrementAndGet(task.row.priority().code());
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
