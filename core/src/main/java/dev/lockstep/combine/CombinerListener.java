package dev.lockstep.combine;

import java.time.Duration;

/**
 * Receives every batch. Runs on a writer while callers wait for it, so it must be quick. An
 * exception it throws is logged and changes nothing.
 */
public interface CombinerListener {
  /** Does nothing. */
  CombinerListener NONE = new CombinerListener() {};

  /**
   * Called when a batch has locked and read its rows.
   *
   * @param took from asking for the rows to having read them: mostly the wait for other
   *     transactions
   */
  default void onLocked(Duration took) {}

  /**
   * Called when a batch was decided or failed.
   *
   * @param requests the number of requests in it
   * @param took from begin to end, including every attempt
   */
  default void onBatch(int requests, Duration took) {}
}
