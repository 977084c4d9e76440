package dev.lockstep.job;

import java.time.Instant;
import java.util.Optional;

/**
 * A job that is the claimer's to do until its lease ends.
 *
 * @param attempt 1 for the first; each claim that was not answered in time counts
 * @param expiresAt when the lease ends, by the database's clock
 */
public record ClaimedJob(
    ClaimToken token,
    String queue,
    String kind,
    String payload,
    int attempt,
    int maxAttempts,
    Optional<String> lane,
    Instant due,
    Instant expiresAt) {
  public JobId id() {
    return token.job();
  }
}
