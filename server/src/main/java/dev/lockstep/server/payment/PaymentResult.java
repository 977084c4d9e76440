package dev.lockstep.server.payment;

import java.util.Optional;

/** A payment's state, as far as the provider has reported it. */
public sealed interface PaymentResult {

  /** Paid. Final, except for refunds. */
  record Succeeded(IntentId intent, Money amount) implements PaymentResult {}

  /** The buyer must first pass a challenge of the card's bank. */
  record RequiresAction(IntentId intent, String clientSecret) implements PaymentResult {
    /** Without the secret, so that a logged result gives nothing away. */
    @Override
    public String toString() {
      return "RequiresAction[intent=" + intent + "]";
    }
  }

  /**
   * No money moved; the intent accepts another card.
   *
   * @param code the bank's reason, if given: {@code insufficient_funds}
   */
  record Declined(Optional<IntentId> intent, String code, String message)
      implements PaymentResult {}

  /** No money moved or will move. Final. */
  record Canceled(IntentId intent) implements PaymentResult {}

  /** Not paid yet, but may still be: nobody tried, or the provider is processing it. */
  record Open(IntentId intent, String status) implements PaymentResult {}

  /** Refused before it began: unknown intent, wrong amount or key, or overload here. */
  record Rejected(String code, String message) implements PaymentResult {}

  /**
   * It may have happened or not: no answer came in time, or the provider failed. To find out, send
   * the same request again under its key, call {@link Payments#find}, or wait for its event.
   */
  record Unknown(String reason) implements PaymentResult {}
}
