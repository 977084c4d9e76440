package dev.lockstep.server.purchase;

import io.vertx.core.json.JsonObject;
import java.util.Optional;
import java.util.UUID;

/** What an idempotency key stores during and after its purchase: the purchase's id. */
final class KeyedPurchase {
  private static final String PURCHASE = "purchase";

  private KeyedPurchase() {}

  static String text(UUID purchase) {
    return new JsonObject().put(PURCHASE, purchase.toString()).encode();
  }

  /** Empty for the stored answer of a request that began no purchase. */
  static Optional<UUID> of(String text) {
    return Optional.ofNullable(new JsonObject(text).getString(PURCHASE)).map(UUID::fromString);
  }
}
