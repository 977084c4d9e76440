package dev.lockstep.server;

import dev.lockstep.server.invariant.Invariants;
import dev.lockstep.server.job.JobRunner;
import dev.lockstep.server.reconciliation.Reconciliation;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs on every node once a minute: ensures that recurring tasks have their jobs, reads what other
 * nodes' checks and reconciliations found, and counts the queues for the metrics.
 */
final class Housekeeping implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Housekeeping.class);
  private static final long INTERVAL_SECONDS = 60;
  private static final long CLOSE_SECONDS = 10;

  private final JobRunner jobs;
  private final Invariants invariants;
  private final Reconciliation reconciliation;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "lockstep-housekeeping");
            thread.setDaemon(true);
            return thread;
          });

  Housekeeping(JobRunner jobs, Invariants invariants, Reconciliation reconciliation) {
    this.jobs = jobs;
    this.invariants = invariants;
    this.reconciliation = reconciliation;
    var unused =
        timer.scheduleWithFixedDelay(
            this::tidy, INTERVAL_SECONDS, INTERVAL_SECONDS, TimeUnit.SECONDS);
  }

  private void tidy() {
    attempt("Ensuring recurring tasks failed", jobs::ensureRecurring);
    attempt("Reading the latest check of invariants failed", invariants::refresh);
    attempt("Counting the latest findings failed", reconciliation::refresh);
    attempt("Counting queues failed", jobs::countQueues);
  }

  /** Nothing here is urgent: the next round retries. */
  private static void attempt(String failure, Runnable work) {
    try {
      work.run();
    } catch (RuntimeException | Error e) {
      // An exception would end the schedule.
      log.warn("{}; the next round retries: {}", failure, e.toString());
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
    try {
      if (!timer.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        log.warn("Housekeeping did not end within {} s", CLOSE_SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
