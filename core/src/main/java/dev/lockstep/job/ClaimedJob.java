package dev.lockstep.job;

import java.time.Instant;
import java.util.Optional;

/**
 * A job that its claimer may run until the lease ends.
 *
 * @param attempt 1 for the first; an expired claim counts as an attempt
 * @param due when it was to run, at every attempt
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
