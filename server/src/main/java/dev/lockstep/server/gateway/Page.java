package dev.lockstep.server.gateway;

import io.vertx.core.http.HttpServerRequest;
import org.jspecify.annotations.Nullable;

/**
 * Which part of a list is asked for.
 *
 * @param after the last id of the page before; null: from the newest
 * @param limit 1 to 100, 10 unless told
 */
record Page(@Nullable String after, int limit) {
  private static final int DEFAULT_LIMIT = 10;
  private static final int MAX_LIMIT = 100;

  static Page of(HttpServerRequest request) {
    String limit = request.getParam("limit");
    try {
      int size = limit == null ? DEFAULT_LIMIT : Integer.parseInt(limit);
      if (size >= 1 && size <= MAX_LIMIT) {
        return new Page(request.getParam("starting_after"), size);
      }
    } catch (NumberFormatException e) {
      // answered below, like a number out of range
    }
    throw new Refusal(StripeError.invalid("limit", "The limit is 1 to " + MAX_LIMIT + "."));
  }
}
