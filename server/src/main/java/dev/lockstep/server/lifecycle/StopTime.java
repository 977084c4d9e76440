package dev.lockstep.server.lifecycle;

import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time budget of a stop. Each stage has a deadline counted from the start of the stop, so the
 * time that one stage saves goes to the next. A stage past its deadline is abandoned, and the next
 * one starts. For one thread.
 */
public final class StopTime {
  private static final Logger log = LoggerFactory.getLogger(StopTime.class);

  /** Ends one or more resources. */
  @FunctionalInterface
  public interface Ending {
    /** Ends it within this time; after that, nobody waits for it. */
    void end(Duration within) throws Exception;
  }

  private final long begunNanos = System.nanoTime();

  /** Ends all of these concurrently, and waits for them until this deadline. */
  public void end(Duration until, List<Ending> endings) {
    List<Thread> threads = endings.stream().map(one -> start(one, left(until))).toList();
    try {
      for (Thread thread : threads) {
        // At least 1: join(0) waits forever.
        thread.join(Math.max(1, left(until).toMillis()));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Duration left(Duration until) {
    return until.minusNanos(System.nanoTime() - begunNanos);
  }

  private static Thread start(Ending ending, Duration within) {
    Thread thread = new Thread(() -> run(ending, within), "lockstep-close");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static void run(Ending ending, Duration within) {
    try {
      ending.end(within.isNegative() ? Duration.ZERO : within);
    } catch (Exception e) {
      log.warn("Closing failed: {}", e.toString());
    }
  }
}
