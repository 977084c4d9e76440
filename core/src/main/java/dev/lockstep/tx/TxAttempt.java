package dev.lockstep.tx;

import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.SqlFault;
import java.time.Duration;
import java.util.Optional;

/**
 * One finished attempt at a transaction.
 *
 * @param label of the transaction's options
 * @param number 1 for the first attempt
 * @param connectionWait time until the pool gave a connection
 * @param duration time from asking for the connection to the outcome
 * @param outcome how the attempt ended
 * @param fault the database's error, if it was the database that failed
 * @param backoff the wait before the next attempt; zero if none follows
 */
public record TxAttempt(
    String label,
    int number,
    Duration connectionWait,
    Duration duration,
    TxOutcome outcome,
    Optional<SqlFault> fault,
    Duration backoff) {

  /** How an attempt ended. */
  public enum TxOutcome {
    /** The server confirmed COMMIT. */
    COMMITTED,
    /** Rolled back; no further attempt. */
    FAILED,
    /** Rolled back, or lost before its id was known; the work runs again after the backoff. */
    RETRIED,
    /** The connection was lost during COMMIT; the lookup found the effect. */
    FOUND_COMMITTED,
    /**
     * The call ends in {@link OutcomeUnknown}: this attempt was lost during COMMIT or its rows
     * could not be read afterwards, or an earlier attempt was lost and may still commit.
     */
    UNKNOWN
  }
}
