package dev.lockstep.combine;

import java.time.Duration;

/**
 * Hears of every batch. Called on a writer while others wait for it, so it must be quick; what it
 * throws is logged and changes nothing.
 */
public interface CombinerListener {
  /** Hears nothing. */
  CombinerListener NONE = new CombinerListener() {};

  /**
   * A batch has its rows.
   *
   * @param took from asking for them to having read them: the wait for other transactions, and the
   *     little that reading takes
   */
  default void onLocked(Duration took) {}

  /**
   * A batch was answered, or failed.
   *
   * @param requests how many it decided
   * @param took from its beginning to its end, every attempt included
   */
  default void onBatch(int requests, Duration took) {}
}
