package dev.lockstep.server.payment;

import java.util.Optional;

/** Where a payment stands, as far as the provider has said. */
public sealed interface PaymentResult {

  /** The money is there. Final, but for refunds. */
  record Succeeded(IntentId intent, Money amount) implements PaymentResult {}

  /** The buyer has to pass a challenge of the card's bank first. */
  record RequiresAction(IntentId intent, String clientSecret) implements PaymentResult {
    /** Without the secret, so that a logged result gives nothing away. */
    @Override
    public String toString() {
      return "RequiresAction[intent=" + intent + "]";
    }
  }

  /**
   * No money moved, and the intent takes another card.
   *
   * @param code the bank's reason where it gave one: {@code insufficient_funds}
   */
  record Declined(Optional<IntentId> intent, String code, String message)
      implements PaymentResult {}

  /** No money moved and none will. Final. */
  record Canceled(IntentId intent) implements PaymentResult {}

  /** Not paid yet, and may still be: nobody tried, or the provider is at it. */
  record Open(IntentId intent, String status) implements PaymentResult {}

  /** Refused before anything was begun: no such intent, a wrong amount or key, or no room here. */
  record Rejected(String code, String message) implements PaymentResult {}

  /**
   * It may have happened or not: no answer came in time, or the provider failed. To be looked up:
   * by sending the same request again under its key, by {@link Payments#find}, or from its event.
   */
  record Unknown(String reason) implements PaymentResult {}
}
