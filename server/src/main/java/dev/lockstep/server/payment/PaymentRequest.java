package dev.lockstep.server.payment;

import java.util.Map;
import java.util.Optional;

/**
 * A payment to make now.
 *
 * @param key the same each time this payment is requested
 * @param paymentMethod in the provider's terms: {@code pm_card_visa}
 * @param metadata comes back with the payment and its events
 * @param intent an earlier payment to try again with another method; empty: a new one
 */
public record PaymentRequest(
    PaymentKey key,
    Money amount,
    String paymentMethod,
    Map<String, String> metadata,
    Optional<IntentId> intent) {
  public PaymentRequest {
    metadata = Map.copyOf(metadata);
    if (paymentMethod.isBlank()) {
      throw new IllegalArgumentException("a payment needs a payment method");
    }
  }

  /** A new payment. */
  public PaymentRequest(
      PaymentKey key, Money amount, String paymentMethod, Map<String, String> metadata) {
    this(key, amount, paymentMethod, metadata, Optional.empty());
  }
}
