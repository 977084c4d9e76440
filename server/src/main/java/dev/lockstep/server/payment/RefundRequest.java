package dev.lockstep.server.payment;

import java.util.Map;

/**
 * A request to refund a payment, or a part of it.
 *
 * @param key the same each time this refund is requested; retries after a failure use keys derived
 *     from it
 * @param amount what should go back, compared with what does
 * @param metadata comes back with the refund's events
 * @param before what was refunded earlier, in the currency's minor unit
 * @param part something is left afterwards; otherwise all that is left is refunded
 */
public record RefundRequest(
    IntentId intent,
    PaymentKey key,
    Money amount,
    Map<String, String> metadata,
    long before,
    boolean part) {
  public RefundRequest {
    metadata = Map.copyOf(metadata);
  }

  /** Of everything received. */
  public RefundRequest(
      IntentId intent, PaymentKey key, Money amount, Map<String, String> metadata) {
    this(intent, key, amount, metadata, 0, false);
  }
}
