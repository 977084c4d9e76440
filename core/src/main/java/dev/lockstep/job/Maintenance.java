package dev.lockstep.job;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Housekeeping on a thread of its own, so that nobody waits for what it waits for: at the start,
 * then once an hour; sooner when something was left or failed.
 */
final class Maintenance implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Maintenance.class);
  private static final Duration INTERVAL = Duration.ofHours(1);
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);
  private static final Duration END = Duration.ofSeconds(3);

  private final Round round;
  private final CountDownLatch closing = new CountDownLatch(1);
  private final Thread thread = new Thread(this::run, "job-maintenance");

  /** All there is to do at one time. */
  @FunctionalInterface
  interface Round {
    /**
     * Does what can be done now.
     *
     * @param goOn asked between two steps; false: end soon
     * @return false if something is left for another time
     */
    boolean run(BooleanSupplier goOn);
  }

  Maintenance(Round round) {
    this.round = round;
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  private void run() {
    Duration pause = FIRST_PAUSE;
    try {
      do {
        boolean done = tryRound();
        long millis = done ? INTERVAL.toMillis() : pause.toMillis();
        pause = done ? FIRST_PAUSE : min(pause.multipliedBy(2), LONGEST_PAUSE);
        closing.await(millis, TimeUnit.MILLISECONDS);
      } while (goesOn());
    } catch (InterruptedException e) {
      log.debug("Stopped", e);
    }
  }

  // Whatever goes wrong, another round comes.
  @SuppressWarnings("CatchingUnchecked")
  private boolean tryRound() {
    try {
      return round.run(this::goesOn);
    } catch (RuntimeException | Error e) {
      if (goesOn()) {
        log.warn("Maintenance of jobs failed; it is tried again: {}", e.toString());
      }
      return false;
    }
  }

  private boolean goesOn() {
    return closing.getCount() > 0;
  }

  private static Duration min(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? a : b;
  }

  /** Begins nothing more. A statement under way is bounded by its timeout; it may outlast this. */
  @Override
  public void close() {
    closing.countDown();
    if (!thread.isAlive()) {
      return;
    }
    try {
      thread.join(END.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
