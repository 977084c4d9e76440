package dev.lockstep.server.payment;

import java.util.Map;

/**
 * Money to be given back: all that was received.
 *
 * @param key the same for every time this refund is asked for; what the provider fails at is tried
 *     again under keys that follow from it
 * @param amount what has to go back, to be compared with what does
 * @param metadata comes back with the refund's events
 */
public record RefundRequest(
    IntentId intent, PaymentKey key, Money amount, Map<String, String> metadata) {
  public RefundRequest {
    metadata = Map.copyOf(metadata);
  }
}
