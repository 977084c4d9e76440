package dev.lockstep.server.purchase;

import io.vertx.core.json.JsonObject;
import java.util.Optional;
import java.util.UUID;

/** What an idempotency key stores during and after its purchase: the purchase's id. */
final class KeyedPurchase {
  private static final String PURCHASE = "purchase";
  private static final String TRY = "try";

  private KeyedPurchase() {}

  /** Of a later try to pay. */
  static String text(UUID purchase, int tryNumber) {
    return new JsonObject().put(PURCHASE, purchase.toString()).put(TRY, tryNumber).encode();
  }

  static String text(UUID purchase) {
    return new JsonObject().put(PURCHASE, purchase.toString()).encode();
  }

  /** The number of the try that {@link #text(UUID, int)} named. */
  static int tryOf(String text) {
    return new JsonObject(text).getInteger(TRY);
  }

  /** Empty for the stored answer of a request that began no purchase. */
  static Optional<UUID> of(String text) {
    return Optional.ofNullable(new JsonObject(text).getString(PURCHASE)).map(UUID::fromString);
  }
}
