package dev.lockstep.server.duty;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats short work on a thread of its own. A failure is logged, and the next round retries.
 *
 * <p>Thread-safe. {@link #close} interrupts the current round and waits for it, for a bounded time.
 */
public final class DutyTimer implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(DutyTimer.class);
  private static final long CLOSE_SECONDS = 10;

  private final String name;
  private final ScheduledExecutorService thread;

  /** The thread is called {@code lockstep-} and this name. */
  public DutyTimer(String name) {
    this.name = name;
    this.thread =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread made = new Thread(task, "lockstep-" + name);
              made.setDaemon(true);
              return made;
            });
  }

  /**
   * Repeats work until closed.
   *
   * @param first the pause before the first round
   * @param pause from the end of one round to the start of the next
   * @param failure what is logged when it fails
   */
  public void repeat(Duration first, Duration pause, String failure, Runnable work) {
    // An exception would end the schedule.
    var unused =
        thread.scheduleWithFixedDelay(
            () -> attempt(failure, work),
            first.toMillis(),
            pause.toMillis(),
            TimeUnit.MILLISECONDS);
  }

  /** Runs one part of a round. If it fails, the other parts still run. */
  public static void attempt(String failure, Runnable work) {
    try {
      work.run();
    } catch (RuntimeException | Error e) {
      log.warn("{}; the next round retries: {}", failure, e.toString());
    }
  }

  /** Runs it once, after everything that was to run before. */
  void execute(Runnable work) {
    thread.execute(work);
  }

  boolean isClosed() {
    return thread.isShutdown();
  }

  @Override
  public void close() {
    thread.shutdownNow();
    try {
      if (!thread.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        log.warn("{} did not end within {} s", name, CLOSE_SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
