package dev.lockstep.gateway;

import org.jspecify.annotations.Nullable;

/**
 * The answer to a request, given once its effect is committed.
 *
 * @param replayed whether it was given before, under the same key
 * @param event what to tell the webhook receiver now
 */
record Answer(int status, String body, boolean replayed, @Nullable Event event) {

  static Answer of(StripeError error) {
    return new Answer(error.status(), StripeJson.error(error, null), false, null);
  }

  static Answer ok(String body) {
    return new Answer(200, body, false, null);
  }
}
