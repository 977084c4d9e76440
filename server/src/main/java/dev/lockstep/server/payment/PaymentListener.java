package dev.lockstep.server.payment;

import java.time.Duration;

/**
 * Hears of every call to the provider when it has ended. Called on the thread that waited for it,
 * so it must be quick and must not throw.
 */
@FunctionalInterface
public interface PaymentListener {
  /** Hears nothing. */
  PaymentListener NONE = (operation, took, refused) -> {};

  /** What was asked of the provider. */
  enum Operation {
    PAY,
    ABANDON,
    FIND,
    CANCEL,
    REFUND
  }

  /**
   * A call has ended.
   *
   * @param took every retry included
   * @param refused the provider said no: no money moved
   */
  void onCall(Operation operation, Duration took, boolean refused);
}
