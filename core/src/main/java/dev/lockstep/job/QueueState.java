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
 * A queue's state in a worker. Guarded by the memory's lock, except for polling: while jobs are
 * ready and nothing limits the queue, polling takes no lock, so short jobs do not contend for it.
 */
final class QueueState {
  final QueueConfig config;
  final Condition work;
  private final TaskState.Observer observer;
  // Indexed by priority code: the most urgent first.
  private final List<Queue<Task>> ready = new ArrayList<>();
  private final AtomicIntegerArray readyCounts = new AtomicIntegerArray(Priority.values().length);
  // Jobs in the state RUNNING.
  private final AtomicIntegerArray running = new AtomicIntegerArray(Priority.values().length);
  private volatile boolean paused;
  // Starts per second on this node; 0: no limit.
  private volatile double rate;
  private long nextStartNanos = System.nanoTime();

  QueueState(QueueConfig config, Condition work, TaskState.Observer observer) {
    this.config = config;
    this.work = work;
    this.observer = observer;
    Stream.of(Priority.values()).forEach(priority -> ready.add(new ConcurrentLinkedQueue<>()));
  }

  /** Applies settings; false if they are unchanged. */
  boolean set(boolean paused, double rate) {
    if (this.paused == paused && this.rate == rate) {
      return false;
    }
    this.paused = paused;
    this.rate = rate;
    // Bring a start forward that a slower rate had delayed.
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

  /** Counts jobs that are at least this urgent; less urgent ones do not compete with them. */
  private static int upTo(Priority priority, AtomicIntegerArray counts) {
    int count = 0;
    for (int code = 0; code <= priority.code(); code++) {
      count += counts.get(code);
    }
    return count;
  }

  /** How many more jobs of this priority to read. */
  int wanted(Priority priority) {
    return isBehind(priority) ? 0 : Math.max(0, config.readAhead() - upTo(priority, readyCounts));
  }

  boolean isLow(Priority priority) {
    return !isBehind(priority) && upTo(priority, readyCounts) <= config.readAhead() / 2;
  }

  /**
   * Whether reading more is pointless: the queue is paused, or too many results wait to be written.
   */
  private boolean isBehind(Priority priority) {
    return paused || upTo(priority, running) > config.readAhead() + config.concurrency();
  }

  /** Whether neither pause nor rate limits the next start. */
  boolean isUnlimited() {
    return !paused && rate <= 0;
  }

  /** Takes the next job to run. It may have been given back: {@link Task#begin} tells. */
  @Nullable Task poll() {
    for (Queue<Task> tasks : ready) {
      Task task = tasks.poll();
      if (task != null) {
        return task;
      }
    }
    return null;
  }

  /** The jobs that come next, in order. */
  List<Task> peek(int count) {
    return ready.stream().flatMap(Queue::stream).limit(count).toList();
  }

  /** Counts a ready job as begun; true if now is the time to read more. */
  boolean begun(Task task) {
    running.incrementAndGet(task.row.priority().code());
    int left = readyCounts.decrementAndGet(task.row.priority().code());
    return left == 0 || left == config.readAhead() / 2;
  }

  /** Call after each move; {@link #add} and {@link #begun} count moves to READY and RUNNING. */
  void moved(Task task, TaskState from, TaskState to) {
    if (from == TaskState.RUNNING) {
      running.decrementAndGet(task.row.priority().code());
    } else if (from == TaskState.READY && to == TaskState.ENDED) {
      readyCounts.decrementAndGet(task.row.priority().code());
    }
    observer.moved(task.row.id(), from, to);
  }

  boolean hasReady() {
    return upTo(Priority.LOW, readyCounts) > 0;
  }

  /**
   * How long the rate delays the next start. Returns 0 if it may begin now, and counts that start.
   */
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
