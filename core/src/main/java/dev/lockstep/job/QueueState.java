package dev.lockstep.job;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A queue as a worker serves it. Guarded by the board's lock. */
final class QueueState {
  final QueueConfig config;
  final Condition work;
  // By the code of their priority: the first first.
  private final List<ArrayDeque<Task>> ready = new ArrayList<>();
  private int readyCount;
  private boolean paused;
  // Starts a second at this node; 0: no limit.
  private double rate;
  private long nextStartNanos = System.nanoTime();

  QueueState(QueueConfig config, Condition work) {
    this.config = config;
    this.work = work;
    Stream.of(Priority.values()).forEach(priority -> ready.add(new ArrayDeque<>()));
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
    task.state = Task.State.READY;
    ready.get(task.row.priority().code()).add(task);
    readyCount++;
    work.signal();
  }

  /** How many more are wanted at hand. */
  int wanted() {
    return paused ? 0 : Math.max(0, config.readAhead() - readyCount);
  }

  boolean isLow() {
    return !paused && readyCount <= config.readAhead() / 2;
  }

  /** The next one to run, which is no longer ready then. */
  @Nullable Task poll() {
    for (ArrayDeque<Task> tasks : ready) {
      for (Task task = tasks.poll(); task != null; task = tasks.poll()) {
        // Others were given back meanwhile, and are not counted any more.
        if (task.state == Task.State.READY) {
          readyCount--;
          return task;
        }
      }
    }
    return null;
  }

  boolean hasReady() {
    return readyCount > 0;
  }

  void gaveBack() {
    readyCount--;
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
