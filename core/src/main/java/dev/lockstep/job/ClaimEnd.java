package dev.lockstep.job;

import java.time.Instant;
import java.util.Optional;

/** The result of {@link Claims#end}. */
public sealed interface ClaimEnd {
  /**
   * The result was written.
   *
   * @param state DONE, DEAD, or SCHEDULED for the next attempt
   * @param nextAt when the next attempt is due; present only if SCHEDULED
   */
  record Recorded(JobState state, Optional<Instant> nextAt) implements ClaimEnd {}

  /**
   * Nothing was written: the token is not the job's live claim, or the job was changed after the
   * claim. Roll the transaction back, with whatever else it wrote.
   */
  record Lost() implements ClaimEnd {}
}
