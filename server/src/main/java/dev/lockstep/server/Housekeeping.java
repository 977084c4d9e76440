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
 * What each node does for itself, once a minute: sees to it that what recurs has its job, learns
 * what the nodes have found that ran the invariant check and the reconciliation, and counts the
 * queues for the metrics.
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
    attempt("What recurs was not looked after", jobs::ensureRecurring);
    attempt("The latest check of invariants was not read", invariants::refresh);
    attempt("The latest findings were not counted", reconciliation::refresh);
    attempt("Queues were not counted", jobs::countQueues);
  }

  /** Nothing of it is urgent: the next round tries again. */
  private static void attempt(String failure, Runnable work) {
    try {
      work.run();
    } catch (RuntimeException | Error e) {
      // One that throws would be the last.
      log.warn("{} this time: {}", failure, e.toString());
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
