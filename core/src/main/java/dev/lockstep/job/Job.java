package dev.lockstep.job;

import java.time.Instant;
import java.util.Optional;

/**
 * A job as it is in the database at one moment.
 *
 * @param due when it is or was to run; with a retry, when the next attempt is
 * @param attempts that failed since it was enqueued or brought back
 * @param version changes with every change; what an edit compares
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
    State state,
    Instant due,
    int attempts,
    int maxAttempts,
    int version,
    Optional<Instant> endedAt,
    Optional<String> reason) {

  /** Where a job is in its life. */
  public enum State {
    /** Its time has not come. */
    SCHEDULED,
    /** Due; it may be running, which is written down only for some. */
    READY,
    /** Marked as running by the node that runs it. */
    RUNNING,
    DEAD,
    /** Known only while history is kept. */
    DONE
  }

  /**
   * An attempt that failed.
   *
   * @param number 1 for the first; counts on when the job is brought back
   */
  public record Attempt(int number, Instant at, String error) {}
}
