package dev.lockstep.server.payment;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An event of the provider. Events come in any order and more than once, so they describe the past;
 * final results ({@code Succeeded}, {@code Canceled}) still hold.
 *
 * @param id the same each time the event is sent
 * @param type {@code payment_intent.succeeded}, {@code charge.refunded} …
 * @param intent the payment it concerns, if any
 * @param metadata as given with the payment
 * @param result the payment's state at the time; empty for other events, including refunds
 * @param cause the key of the request that caused it; empty if none or unknown
 */
public record PaymentEvent(
    String id,
    String type,
    Optional<IntentId> intent,
    Map<String, String> metadata,
    Optional<PaymentResult> result,
    Optional<PaymentKey> cause) {

  public PaymentEvent {
    metadata = Map.copyOf(metadata);
  }

  /** Whether it concerns a refund. */
  public boolean isRefund() {
    return type.startsWith("refund.") || type.startsWith("charge.refund");
  }

  /** Empty if the bytes are not an event. */
  static Optional<PaymentEvent> parse(byte[] body) {
    try {
      JsonObject event = new JsonObject(Buffer.buffer(body));
      JsonObject data = event.getJsonObject("data");
      JsonObject object = data == null ? null : data.getJsonObject("object");
      String id = event.getString("id");
      String type = event.getString("type");
      if (id == null || type == null || object == null) {
        return Optional.empty();
      }
      boolean isIntent = "payment_intent".equals(object.getString("object"));
      String intent = object.getString(isIntent ? "id" : "payment_intent");
      return Optional.of(
          new PaymentEvent(
              id,
              type,
              Optional.ofNullable(intent).map(IntentId::new),
              metadata(object.getJsonObject("metadata")),
              isIntent ? Optional.of(StripeOutcomes.of(object)) : Optional.empty(),
              cause(event)));
    } catch (DecodeException | ClassCastException | IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static Optional<PaymentKey> cause(JsonObject event) {
    return event.getValue("request") instanceof JsonObject request
        ? Optional.ofNullable(request.getString("idempotency_key"))
            .filter(key -> !key.isBlank() && key.length() <= PaymentKey.MAX_LENGTH)
            .map(PaymentKey::new)
        : Optional.empty();
  }

  private static Map<String, String> metadata(@Nullable JsonObject json) {
    Map<String, String> metadata = new HashMap<>();
    if (json != null) {
      json.forEach(entry -> metadata.put(entry.getKey(), String.valueOf(entry.getValue())));
    }
    return metadata;
  }
}
