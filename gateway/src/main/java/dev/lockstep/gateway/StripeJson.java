package dev.lockstep.gateway;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Stripe's objects as text: the fields a client of payments reads, under Stripe's names. */
final class StripeJson {
  /** The text after the object of an event. */
  static final String EVENT_END = "}}";

  private static final JsonArray CARD_ONLY = new JsonArray(List.of("card"));

  private StripeJson() {}

  static JsonObject intent(Intent intent) {
    boolean paid = intent.status() == IntentStatus.SUCCEEDED;
    Intent.Failure failure = intent.failure();
    return new JsonObject()
        .put("id", intent.id())
        .put("object", "payment_intent")
        .put("amount", intent.amount())
        .put("amount_capturable", 0)
        .put("amount_received", intent.received())
        .put("canceled_at", seconds(intent.canceledAt()))
        .put("cancellation_reason", intent.cancellationReason())
        .put("capture_method", "automatic")
        .put("client_secret", intent.clientSecret())
        .put("confirmation_method", "automatic")
        .put("created", seconds(intent.createdAt()))
        .put("currency", intent.currency())
        .put("description", intent.description())
        .put("last_payment_error", failure == null ? null : failure.toError().toJson())
        .put("latest_charge", paid ? intent.chargeId() : null)
        .put("livemode", false)
        .put("metadata", intent.metadata())
        .put("next_action", nextAction(intent))
        .put("payment_method", intent.paymentMethod())
        .put("payment_method_types", CARD_ONLY)
        .put("status", intent.status().wireName());
  }

  static JsonObject refund(Refund refund) {
    return new JsonObject()
        .put("id", refund.id())
        .put("object", "refund")
        .put("amount", refund.amount())
        .put("charge", refund.chargeId())
        .put("created", seconds(refund.createdAt()))
        .put("currency", refund.currency())
        .put("metadata", refund.metadata())
        .put("payment_intent", refund.intent())
        .put("reason", refund.reason())
        .put("failure_reason", refund.status() == RefundStatus.FAILED ? "declined" : null)
        .put("status", refund.status().wireName());
  }

  /** The charge of a paid intent. */
  static JsonObject charge(Intent intent) {
    return new JsonObject()
        .put("id", intent.chargeId())
        .put("object", "charge")
        .put("amount", intent.amount())
        .put("amount_captured", intent.received())
        .put("amount_refunded", intent.refunded())
        .put("captured", true)
        .put("created", seconds(intent.createdAt()))
        .put("currency", intent.currency())
        .put("livemode", false)
        .put("metadata", intent.metadata())
        .put("paid", true)
        .put("payment_intent", intent.id())
        .put("payment_method", intent.paymentMethod())
        .put("refunded", intent.refunded() == intent.amount())
        .put("status", "succeeded");
  }

  /** An event about an encoded object: it is the larger part, and often the answer, too. */
  static String event(GatewayRequest request, String type, String object, Instant at) {
    String head =
        new JsonObject()
            .put("id", request.eventId())
            .put("object", "event")
            .put("api_version", request.apiVersion())
            .put("created", seconds(at))
            .put("livemode", false)
            .put("pending_webhooks", 1)
            .put(
                "request",
                new JsonObject().put("id", request.id()).put("idempotency_key", request.key()))
            .put("type", type)
            .encode();
    return head.substring(0, head.length() - 1) + ",\"data\":{\"object\":" + object + EVENT_END;
  }

  static String error(StripeError error, @Nullable Intent about) {
    JsonObject json = error.toJson();
    if (about != null) {
      json.put("payment_intent", intent(about));
    }
    return new JsonObject().put("error", json).encode();
  }

  static String list(String url, List<JsonObject> page, boolean hasMore) {
    return new JsonObject()
        .put("object", "list")
        .put("data", new JsonArray(page))
        .put("has_more", hasMore)
        .put("url", url)
        .encode();
  }

  /** The result of a search, as its only page. */
  static String found(String url, List<JsonObject> found) {
    return new JsonObject()
        .put("object", "search_result")
        .put("data", new JsonArray(found))
        .put("has_more", false)
        .put("next_page", null)
        .put("url", url)
        .encode();
  }

  private static @Nullable JsonObject nextAction(Intent intent) {
    if (intent.status() != IntentStatus.REQUIRES_ACTION) {
      return null;
    }
    return new JsonObject()
        .put("type", "use_stripe_sdk")
        .put("use_stripe_sdk", new JsonObject().put("type", "three_d_secure_challenge"));
  }

  private static @Nullable Long seconds(@Nullable Instant at) {
    return at == null ? null : at.getEpochSecond();
  }
}
