package dev.lockstep.job;

import java.time.Instant;
import java.util.Optional;

/** What came of {@link Claims#end}. */
public sealed interface ClaimEnd {
  /**
   * The job has ended, or comes again.
   *
   * @param state DONE, DEAD, or SCHEDULED for the next attempt
   * @param nextAt when that is
   */
  record Ended(Job.State state, Optional<Instant> nextAt) implements ClaimEnd {}

  /**
   * The token is not the job's newest live lease, or somebody has changed the job: nothing was
   * written here. Roll back what else the transaction wrote.
   */
  record Lost() implements ClaimEnd {}
}
