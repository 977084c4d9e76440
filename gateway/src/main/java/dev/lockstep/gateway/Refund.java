package dev.lockstep.gateway;

import io.vertx.core.json.JsonObject;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Money that went back, or is about to. */
record Refund(
    String id,
    String intent,
    long amount,
    String currency,
    @Nullable String reason,
    JsonObject metadata,
    RefundStatus status,
    Instant createdAt) {

  Refund in(RefundStatus next) {
    return new Refund(id, intent, amount, currency, reason, metadata, next, createdAt);
  }

  String chargeId() {
    return "ch_" + intent.substring(intent.indexOf('_') + 1);
  }
}
