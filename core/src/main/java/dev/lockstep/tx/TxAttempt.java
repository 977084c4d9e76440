package dev.lockstep.tx;

import java.time.Duration;
import java.util.Optional;

/**
 * One attempt at a transaction, as it ended.
 *
 * @param label of the transaction's options
 * @param number 1 for the first attempt
 * @param connectionWait time until a connection was there
 * @param duration time from asking for the connection to the outcome
 * @param outcome what became of it
 * @param fault what the database said, if it was the database
 * @param backoff the wait before the next attempt; zero if there is none
 */
public record TxAttempt(
    String label,
    int number,
    Duration connectionWait,
    Duration duration,
    Outcome outcome,
    Optional<SqlFault> fault,
    Duration backoff) {

  /** What became of an attempt. */
  public enum Outcome {
    /** The server confirmed COMMIT. */
    COMMITTED,
    /** Rolled back, and not tried again. */
    FAILED,
    /** Rolled back, and tried again after the backoff. */
    RETRIED,
    /** The connection was lost in COMMIT; looked up: it had happened. */
    FOUND_COMMITTED,
    /** The connection was lost in COMMIT, and nobody can tell. */
    UNKNOWN
  }
}
