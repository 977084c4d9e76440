package dev.lockstep.server.gateway;

import io.vertx.core.json.JsonObject;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Money that went back. */
record Refund(
    String id,
    String intent,
    long amount,
    String currency,
    @Nullable String reason,
    JsonObject metadata,
    Instant createdAt) {

  String chargeId() {
    return "ch_" + intent.substring(intent.indexOf('_') + 1);
  }
}
