package dev.lockstep.job;

import java.time.Instant;
import java.util.function.BooleanSupplier;

/**
 * The job that a handler runs, and its lease.
 *
 * @param id the same at every attempt
 * @param payload JSON as enqueued; white space may differ
 * @param due when it was to run, at every attempt; for a schedule, the time of the occurrence
 * @param attempt 1 for the first since it was enqueued or replayed; an attempt cut off by a crash
 *     may count
 */
public record JobContext(
    JobId id,
    String queue,
    String kind,
    String payload,
    Instant due,
    int attempt,
    BooleanSupplier lease) {

  /**
   * Returns false once this node has, or may have, lost the right to complete the job; another node
   * will run it. Check it before an external effect that cannot be undone. Effects in this database
   * do not need the check: use {@link Outcome.Done#writing}.
   */
  public boolean holdsLease() {
    return lease.getAsBoolean();
  }
}
