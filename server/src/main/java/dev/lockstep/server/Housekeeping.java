package dev.lockstep.server;

import dev.lockstep.once.Once;
import dev.lockstep.server.job.JobRunner;
import dev.lockstep.server.key.Keys;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes what has served its time: idempotency keys a day after their answer, visitors' keys when
 * they have expired. Sees to it that what recurs has its job.
 */
final class Housekeeping implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Housekeeping.class);
  private static final long INTERVAL_SECONDS = 60;
  private static final long CLOSE_SECONDS = 10;

  private final Once once;
  private final Keys keys;
  private final JobRunner jobs;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "lockstep-housekeeping");
            thread.setDaemon(true);
            return thread;
          });

  Housekeeping(Once once, Keys keys, JobRunner jobs) {
    this.once = once;
    this.keys = keys;
    this.jobs = jobs;
    var unused =
        timer.scheduleWithFixedDelay(
            this::tidy, INTERVAL_SECONDS, INTERVAL_SECONDS, TimeUnit.SECONDS);
  }

  private void tidy() {
    attempt("Expired idempotency keys were not removed", once::removeExpired);
    attempt("Visitors of long ago were not removed", keys::removeOldVisitors);
    attempt("What recurs was not looked after", jobs::ensureRecurring);
  }

  /** Nothing of it is urgent: an expired key, say, counts as none. The next round tries again. */
  private static void attempt(String failure, Runnable work) {
    try {
      work.run();
    } catch (RuntimeException e) {
      log.warn("{} this time: {}", failure, e.getMessage());
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
