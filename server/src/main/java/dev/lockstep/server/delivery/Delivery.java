package dev.lockstep.server.delivery;

import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.Optional;

/**
 * What is delivered where, as a job's payload has it.
 *
 * @param schedule which schedule it is a delivery of
 * @param webhook the URL
 * @param body JSON text, sent byte by byte as it is here
 * @param dueAt the occurrence it is the delivery of, which stays when an attempt is put off; empty
 *     in the schedule itself
 */
public record Delivery(String schedule, String webhook, String body, Optional<Instant> dueAt) {

  static Delivery read(String payload) {
    JsonObject json = new JsonObject(payload);
    return new Delivery(
        json.getString("schedule"),
        json.getString("webhook"),
        json.getString("body"),
        Optional.ofNullable(json.getString("dueAt")).map(Instant::parse));
  }

  Delivery dueAt(Instant at) {
    return new Delivery(schedule, webhook, body, Optional.of(at));
  }

  String payload() {
    JsonObject json =
        new JsonObject().put("schedule", schedule).put("webhook", webhook).put("body", body);
    dueAt.ifPresent(at -> json.put("dueAt", at.toString()));
    return json.encode();
  }
}
