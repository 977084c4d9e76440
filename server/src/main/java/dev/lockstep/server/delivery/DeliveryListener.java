package dev.lockstep.server.delivery;

import java.time.Duration;

/** Receives every delivery attempt. Called by many threads; must not block. */
@FunctionalInterface
public interface DeliveryListener {

  /** How an attempt ended. */
  enum Ending {
    /** The receiver accepted it. */
    DELIVERED,
    /** The receiver answered, but not with success. */
    REJECTED,
    /** No answer. */
    FAILED,
    /** Not sent: the target is not allowed. */
    REFUSED
  }

  void onAttempt(Ending ending, Duration took);
}
