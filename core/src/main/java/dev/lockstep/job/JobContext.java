package dev.lockstep.job;

import java.time.Instant;
import java.util.function.BooleanSupplier;

/**
 * The job a handler is given, and what it can know about its run.
 *
 * @param id the same at every attempt
 * @param payload JSON, as it was enqueued (its white space may differ)
 * @param due when it was to run; of a schedule, the occurrence
 * @param attempt 1 for the first since it was enqueued or brought back; one that may have been cut
 *     off by a crash counts
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
   * False once the right to complete the job is or may be lost: somebody else will run it. Worth
   * asking before something that cannot be taken back; what is written in this database needs no
   * such question ({@link Outcome.Done#writing}).
   */
  public boolean holdsLease() {
    return lease.getAsBoolean();
  }
}
