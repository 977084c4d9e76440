package dev.lockstep.server.payment;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Something the provider says has happened. Events come in any order and more than once, so this is
 * how things stood then; what is final ({@code Succeeded}, {@code Canceled}) still holds.
 *
 * @param id the same each time the event is sent
 * @param type {@code payment_intent.succeeded}, {@code charge.refunded} …
 * @param intent the payment it is about, if any
 * @param metadata what was given with the payment
 * @param result where the payment stood; empty for events about anything else, refunds included
 * @param cause the key of the request that led to it; empty if none did, or nobody knows
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

  /** About money that goes back. */
  public boolean isRefund() {
    return type.startsWith("refund.") || type.startsWith("charge.refund");
  }

  /** Empty if the bytes are no event. */
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
              isIntent ? Optional.of(Outcomes.of(object)) : Optional.empty(),
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
