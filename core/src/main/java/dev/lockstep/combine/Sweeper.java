package dev.lockstep.combine;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends expired items in the background, on its own thread, until closed. Any number of nodes may
 * run one. Correctness does not depend on it, only how soon free stock or money shows: a command
 * that needs it ends expired items itself.
 */
public final class Sweeper implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Sweeper.class);
  private static final long CLOSE_SECONDS = 10;

  private final String name;
  private final Runnable sweep;
  private final ScheduledExecutorService thread;

  /**
   * @param name of the thread, also used in log lines
   * @param interval from the end of one sweep to the start of the next
   */
  public Sweeper(String name, Duration interval, Runnable sweep) {
    this.name = name;
    this.sweep = sweep;
    this.thread =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread named = new Thread(task, name);
              named.setDaemon(true);
              return named;
            });
    var unused =
        thread.scheduleWithFixedDelay(
            this::sweep, interval.toMillis(), interval.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void sweep() {
    try {
      sweep.run();
    } catch (Throwable e) {
      // Catch everything: the executor never reruns a task that throws. The next sweep tries again.
      log.warn(
          "{}: sweep failed, some expired items remain; the next sweep tries again: {}",
          name,
          e.toString());
    }
  }

  @Override
  public void close() {
    thread.shutdownNow();
    try {
      if (!thread.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        log.warn("{}: thread still running {} s after close", name, CLOSE_SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
