package dev.lockstep.server.payment;

import java.time.Duration;

/**
 * Receives every finished call to the provider. Called on the thread that finished it, perhaps an
 * event loop, so it must be quick and must not throw.
 */
@FunctionalInterface
public interface PaymentListener {
  /** Ignores everything. */
  PaymentListener NONE = (operation, took, refused) -> {};

  /** The kind of call. */
  enum Operation {
    PAY,
    ABANDON,
    FIND,
    CANCEL,
    REFUND
  }

  /**
   * Reports a finished call.
   *
   * @param took including all retries
   * @param refused the provider refused: no money moved
   */
  void onCall(Operation operation, Duration took, boolean refused);
}
