package dev.lockstep.server.purchase;

import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Shape;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.Optional;

/**
 * The tries to pay for a purchase. Each has a number and a key of its own, so that a report about
 * an earlier one changes nothing.
 *
 * @param number of the newest one, from 1
 * @param since when that one began; empty: with the purchase
 * @param failed those that failed, as JSON; not changed after construction
 */
record Tries(int number, Optional<Instant> since, JsonArray failed) {
  /** After this many declined tries the purchase fails and its goods are released. */
  static final int MOST = 5;

  static final Tries FIRST = new Tries(1, Optional.empty(), new JsonArray());

  static final ObjectShape SHAPE =
      Shape.object()
          .required("number", Shape.integer(1, MOST))
          .required("at", Shape.time())
          .required("paymentMethod", Shape.text(1, 255))
          .required("reason", Shape.text(1, 255));

  boolean isFirst() {
    return number == 1;
  }

  boolean isLast() {
    return number >= MOST;
  }

  /**
   * The newest one has failed.
   *
   * @param at when it began
   */
  Tries failed(Instant at, String paymentMethod, String reason) {
    JsonObject entry =
        new JsonObject()
            .put("number", number)
            .put("at", at.toString())
            .put("paymentMethod", paymentMethod)
            .put("reason", reason);
    return new Tries(number, since, failed.copy().add(entry));
  }
}
