package dev.lockstep.job;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs maintenance on a separate thread, so that no job waits for its locks: at the start, then
 * once per hour; sooner if a step was left or failed.
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

  /** One run of all maintenance steps. */
  @FunctionalInterface
  interface Round {
    /**
     * Does what is possible now.
     *
     * @param mayContinue asked between steps; false: stop soon
     * @return false if a step was left for the next round
     */
    boolean run(BooleanSupplier mayContinue);
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
    do {
      boolean done = tryRound();
      await(done ? INTERVAL : pause);
      pause = done ? FIRST_PAUSE : min(pause.multipliedBy(2), LONGEST_PAUSE);
    } while (mayContinue());
  }

  /** A listener may leave an interrupt behind. Only {@link #close} ends the thread. */
  private void await(Duration pause) {
    boolean unused = Thread.interrupted();
    try {
      boolean closes = closing.await(pause.toMillis(), TimeUnit.MILLISECONDS);
      log.debug("Maintenance {}", closes ? "ends" : "continues");
    } catch (InterruptedException e) {
      log.debug("Maintenance was interrupted and continues", e);
    }
  }

  // Catches everything: another round follows.
  @SuppressWarnings("CatchingUnchecked")
  private boolean tryRound() {
    try {
      return round.run(this::mayContinue);
    } catch (RuntimeException | Error e) {
      if (mayContinue()) {
        log.warn("Job maintenance failed; it is retried: {}", e.toString());
      }
      return false;
    }
  }

  private boolean mayContinue() {
    return closing.getCount() > 0;
  }

  private static Duration min(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? a : b;
  }

  /** Begins no more steps. A running statement may outlast this call; its timeout bounds it. */
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
