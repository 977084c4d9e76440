package dev.lockstep.server.lifecycle;

import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time that a stop has in all. Each stage may take until a moment that is counted from the
 * stop's beginning: what one stage does not need, the next one has. A stage that is not over by
 * then is left to itself, and the next begins. One thread uses it.
 */
public final class StopTime {
  private static final Logger log = LoggerFactory.getLogger(StopTime.class);

  /** Ends something. */
  @FunctionalInterface
  public interface Ending {
    /** Ends it within this time; after that nobody waits for it any more. */
    void end(Duration within) throws Exception;
  }

  private final long begunNanos = System.nanoTime();

  /** Ends all of these at the same time, and waits for them until so long after the beginning. */
  public void end(Duration until, List<Ending> endings) {
    List<Thread> threads = endings.stream().map(one -> start(one, left(until))).toList();
    try {
      for (Thread thread : threads) {
        // At least 1: join(0) waits for ever.
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
      log.warn("While stopping: {}", e.toString());
    }
  }
}
