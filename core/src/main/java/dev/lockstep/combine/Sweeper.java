package dev.lockstep.combine;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends in the background what has expired, again and again on a thread of its own, until closed.
 * Any number of nodes may run one. Nothing depends on it but how soon what is free shows: a command
 * that needs it takes back what has expired itself.
 */
public final class Sweeper implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Sweeper.class);
  private static final long CLOSE_SECONDS = 10;

  private final String name;
  private final Runnable sweep;
  private final ScheduledExecutorService thread;

  /**
   * @param name of the thread, and in what is logged
   * @param interval from the end of one sweep to the beginning of the next
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
      // The next round tries again, whatever it was: a task that throws is never scheduled again.
      log.warn("{}: not everything that has expired was ended this time: {}", name, e.toString());
    }
  }

  @Override
  public void close() {
    thread.shutdownNow();
    try {
      if (!thread.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        log.warn("{} has not ended within {} s", name, CLOSE_SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
