package dev.lockstep.server.delivery;

import java.time.Duration;

/** Told of every attempt to deliver. Called by many threads; must not block. */
@FunctionalInterface
public interface DeliveryListener {

  /** What came of an attempt. */
  enum Ending {
    /** The receiver took it. */
    DELIVERED,
    /** The receiver answered, and not with a success. */
    REJECTED,
    /** No answer. */
    FAILED,
    /** Not sent: the target is not one that may be sent to. */
    REFUSED
  }

  void onAttempt(Ending ending, Duration took);
}
