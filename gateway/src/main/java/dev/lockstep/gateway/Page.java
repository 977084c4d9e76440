package dev.lockstep.gateway;

import io.vertx.core.http.HttpServerRequest;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The requested part of a list.
 *
 * @param after the last id of the page before; null: from the newest
 * @param limit 1 to 100; 10 by default
 * @param from only what was made then or later
 * @param before only what was made before
 * @param expanded with the payment of each refund instead of its id
 */
record Page(
    @Nullable String after,
    int limit,
    Optional<Instant> from,
    Optional<Instant> before,
    boolean expanded) {
  private static final int DEFAULT_LIMIT = 10;
  private static final int MAX_LIMIT = 100;

  static Page of(HttpServerRequest request) {
    String limit = request.getParam("limit");
    try {
      int size = limit == null ? DEFAULT_LIMIT : Integer.parseInt(limit);
      if (size >= 1 && size <= MAX_LIMIT) {
        return new Page(
            request.getParam("starting_after"),
            size,
            seconds(request, "created[gte]"),
            seconds(request, "created[lt]"),
            isExpanded(request, "data.payment_intent"));
      }
    } catch (NumberFormatException e) {
      // answered below, like a number out of range
    }
    throw new Refusal(StripeError.invalid("limit", "The limit is 1 to " + MAX_LIMIT + "."));
  }

  /** Whether the request wants this in full: {@code expand[]} or {@code expand[0]}. */
  static boolean isExpanded(HttpServerRequest request, String field) {
    return request.params().entries().stream()
        .anyMatch(param -> param.getKey().startsWith("expand[") && param.getValue().equals(field));
  }

  private static Optional<Instant> seconds(HttpServerRequest request, String name) {
    try {
      return Optional.ofNullable(request.getParam(name))
          .map(text -> Instant.ofEpochSecond(Long.parseLong(text)));
    } catch (NumberFormatException | DateTimeException e) {
      throw new Refusal(StripeError.invalid(name, "Times are whole seconds since 1970."));
    }
  }
}
