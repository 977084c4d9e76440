package dev.lockstep.server.payment;

import java.util.Map;

/**
 * A payment to make now.
 *
 * @param key the same each time this payment is requested
 * @param paymentMethod in the provider's terms: {@code pm_card_visa}
 * @param metadata comes back with the payment and its events
 */
public record PaymentRequest(
    PaymentKey key, Money amount, String paymentMethod, Map<String, String> metadata) {
  public PaymentRequest {
    metadata = Map.copyOf(metadata);
    if (paymentMethod.isBlank()) {
      throw new IllegalArgumentException("a payment needs a payment method");
    }
  }
}
