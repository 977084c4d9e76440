package dev.lockstep.server;

import dev.lockstep.server.duty.DutyTimer;
import dev.lockstep.server.invariant.Invariants;
import dev.lockstep.server.job.JobRunner;
import dev.lockstep.server.reconciliation.Reconciliation;
import java.time.Duration;

/**
 * Runs on every node once a minute: ensures that recurring tasks have their jobs, reads what other
 * nodes' checks and reconciliations found, and counts the queues for the metrics.
 */
final class Housekeeping implements AutoCloseable {
  private static final Duration INTERVAL = Duration.ofMinutes(1);

  private final JobRunner jobs;
  private final Invariants invariants;
  private final Reconciliation reconciliation;
  private final DutyTimer timer = new DutyTimer("housekeeping");

  Housekeeping(JobRunner jobs, Invariants invariants, Reconciliation reconciliation) {
    this.jobs = jobs;
    this.invariants = invariants;
    this.reconciliation = reconciliation;
    timer.repeat(INTERVAL, INTERVAL, "Housekeeping failed", this::tidy);
  }

  private void tidy() {
    DutyTimer.attempt("Ensuring recurring tasks failed", jobs::ensureRecurring);
    DutyTimer.attempt("Reading the latest check of invariants failed", invariants::refresh);
    DutyTimer.attempt("Counting the latest findings failed", reconciliation::refresh);
    DutyTimer.attempt("Counting queues failed", jobs::countQueues);
  }

  @Override
  public void close() {
    timer.close();
  }
}
