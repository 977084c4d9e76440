package dev.lockstep.job;

import dev.lockstep.fault.LockstepException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that repeats a round until told to stop. It survives whatever a round throws and reports
 * it in {@link #trouble}. If even that fails (no memory left to describe the error), it calls
 * {@code died}.
 */
final class WorkerThread {
  private static final Logger log = LoggerFactory.getLogger(WorkerThread.class);
  private static final long PAUSE_NANOS = 100_000_000L;

  private final String name;
  private final Round round;
  private final Thread thread;
  private volatile @Nullable String failure;
  private volatile long failingSinceNanos;
  private volatile boolean stopping;

  /** One round; false ends the loop. */
  @FunctionalInterface
  interface Round {
    boolean run() throws InterruptedException;
  }

  /**
   * @param died called on the dying thread when the loop ends unasked
   */
  WorkerThread(String name, Round round, Runnable died) {
    this.name = name;
    this.round = round;
    this.thread = new Thread(this::run, name);
    thread.setDaemon(true);
    thread.setUncaughtExceptionHandler((dead, thrown) -> died.run());
  }

  void start() {
    thread.start();
  }

  private void run() {
    while (!stopping) {
      try {
        if (!round.run()) {
          return;
        }
        if (failure != null) {
          log.info("{} recovered", name);
          failure = null;
        }
      } catch (InterruptedException e) {
        // An interrupt ends the loop only together with stop().
        log.debug("{} was interrupted", name, e);
      } catch (Throwable e) {
        failed(e);
      }
    }
  }

  private void failed(Throwable thrown) {
    if (failure == null) {
      failingSinceNanos = System.nanoTime();
    }
    failure = FailureText.describe(thrown);
    if (thrown instanceof LockstepException) {
      log.warn("{} failed and retries: {}", name, failure);
    } else {
      FailureText.log(log.atError(), thrown, name + " failed and retries");
    }
    LockSupport.parkNanos(this, PAUSE_NANOS);
  }

  /** Its current problem, if any. */
  Optional<String> trouble() {
    String now = failure;
    if (thread.getState() == Thread.State.TERMINATED && !stopping) {
      return Optional.of(name + " has ended unexpectedly" + (now == null ? "" : ": " + now));
    }
    return now == null
        ? Optional.empty()
        : Optional.of(
            "%s has failed for %d s: %s"
                .formatted(
                    name,
                    TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - failingSinceNanos),
                    now));
  }

  /** Starts no more rounds. */
  void stop() {
    stopping = true;
  }

  void interrupt() {
    thread.interrupt();
  }

  /** Waits for its end, at most until this deadline. */
  void join(long deadlineNanos) {
    if (!thread.isAlive()) {
      return;
    }
    try {
      TimeUnit.NANOSECONDS.timedJoin(
          thread, Math.max(Duration.ofMillis(1).toNanos(), deadlineNanos - System.nanoTime()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
