package dev.lockstep.gateway;

import dev.lockstep.gateway.GatewayFaults.Answers;
import dev.lockstep.gateway.GatewayFaults.Delays;
import dev.lockstep.gateway.GatewayFaults.Webhooks;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.Set;

/** Faults as an operator writes them: one flat object, everything optional, waits in ms. */
final class FaultsJson {
  private static final Set<String> FIELDS =
      Set.of(
          "latencyMs",
          "declineRate",
          "errorBeforeRate",
          "errorAfterRate",
          "timeoutRate",
          "lateByMs",
          "duplicateRate",
          "webhookDelayMs",
          "reorderRate",
          "idempotencyErrorRate",
          "processingRate",
          "pendingRefundRate");

  private FaultsJson() {}

  /**
   * @throws IllegalArgumentException with what is wrong; a misspelt fault must not pass as none
   */
  static GatewayFaults read(String text) {
    try {
      JsonObject json = new JsonObject(text);
      for (String field : json.fieldNames()) {
        if (!FIELDS.contains(field)) {
          throw new IllegalArgumentException("unknown fault: " + field);
        }
      }
      return new GatewayFaults(
          wait(json, "latencyMs"),
          rate(json, "declineRate"),
          new Answers(
              rate(json, "errorBeforeRate"),
              rate(json, "errorAfterRate"),
              rate(json, "timeoutRate"),
              wait(json, "lateByMs"),
              rate(json, "idempotencyErrorRate")),
          new Webhooks(
              rate(json, "duplicateRate"), wait(json, "webhookDelayMs"), rate(json, "reorderRate")),
          new Delays(rate(json, "processingRate"), rate(json, "pendingRefundRate")));
    } catch (DecodeException | ClassCastException e) {
      throw new IllegalArgumentException("faults are one JSON object of numbers", e);
    }
  }

  static String write(GatewayFaults faults) {
    return new JsonObject()
        .put("latencyMs", faults.latency().toMillis())
        .put("declineRate", faults.declineRate())
        .put("errorBeforeRate", faults.answers().errorBeforeRate())
        .put("errorAfterRate", faults.answers().errorAfterRate())
        .put("timeoutRate", faults.answers().timeoutRate())
        .put("lateByMs", faults.answers().lateBy().toMillis())
        .put("duplicateRate", faults.webhooks().duplicateRate())
        .put("webhookDelayMs", faults.webhooks().delay().toMillis())
        .put("reorderRate", faults.webhooks().reorderRate())
        .put("idempotencyErrorRate", faults.answers().idempotencyErrorRate())
        .put("processingRate", faults.delays().processingRate())
        .put("pendingRefundRate", faults.delays().pendingRefundRate())
        .encode();
  }

  private static double rate(JsonObject json, String field) {
    return json.getDouble(field, 0.0);
  }

  private static Duration wait(JsonObject json, String field) {
    return Duration.ofMillis(json.getLong(field, 0L));
  }
}
