package dev.lockstep.server.payment;

import java.util.Map;

/**
 * A payment to be made at once.
 *
 * @param key the same for every time this very payment is asked for
 * @param paymentMethod as the provider names it: {@code pm_card_visa}
 * @param metadata comes back with the payment and with its events
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
