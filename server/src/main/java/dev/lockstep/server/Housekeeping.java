package dev.lockstep.server;

import dev.lockstep.once.Once;
import dev.lockstep.server.key.Keys;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes what has served its time: idempotency keys a day after their answer, visitors' keys when
 * they have expired.
 */
final class Housekeeping implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Housekeeping.class);
  private static final long INTERVAL_SECONDS = 60;
  private static final long CLOSE_SECONDS = 10;

  private final Once once;
  private final Keys keys;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "lockstep-housekeeping");
            thread.setDaemon(true);
            return thread;
          });

  Housekeeping(Once once, Keys keys) {
    this.once = once;
    this.keys = keys;
    var unused =
        timer.scheduleWithFixedDelay(
            this::tidy, INTERVAL_SECONDS, INTERVAL_SECONDS, TimeUnit.SECONDS);
  }

  private void tidy() {
    attempt("Expired idempotency keys", once::removeExpired);
    attempt("Visitors of long ago", keys::removeOldVisitors);
  }

  /** An expired key counts as none whether or not it is still there; the next round tries again. */
  private static void attempt(String what, Runnable removal) {
    try {
      removal.run();
    } catch (RuntimeException e) {
      log.warn("{} were not removed this time: {}", what, e.getMessage());
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
    try {
      if (!timer.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        log.warn("Housekeeping has not ended within {} s", CLOSE_SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
