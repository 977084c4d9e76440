package dev.lockstep.server.payment;

import java.util.Map;

/**
 * A request to refund everything received.
 *
 * @param key the same each time this refund is requested; retries after a failure use keys derived
 *     from it
 * @param amount what should go back, compared with what does
 * @param metadata comes back with the refund's events
 */
public record RefundRequest(
    IntentId intent, PaymentKey key, Money amount, Map<String, String> metadata) {
  public RefundRequest {
    metadata = Map.copyOf(metadata);
  }
}
