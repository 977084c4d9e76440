package dev.lockstep.job;

import java.time.Instant;
import java.util.Optional;

/**
 * A job as the database had it at one moment. History keeps no priority, lane, maxAttempts or
 * version: a DONE job shows NORMAL, empty, 0 and 0.
 *
 * @param due when it is or was to run; for a retry, when the next attempt is
 * @param attempts failed attempts since it was enqueued or replayed
 * @param version changes with every change of the job; edits compare it
 * @param endedAt when it was done or died
 * @param reason why it is dead
 */
public record Job(
    JobId id,
    String queue,
    String kind,
    String payload,
    Priority priority,
    Optional<String> lane,
    JobState state,
    Instant due,
    int attempts,
    int maxAttempts,
    int version,
    Optional<Instant> endedAt,
    Optional<String> reason) {

  /**
   * A failed attempt.
   *
   * @param number 1 for the first; numbering continues after a replay
   */
  public record Attempt(int number, Instant at, String error) {}
}
