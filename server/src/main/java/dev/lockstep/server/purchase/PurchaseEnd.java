package dev.lockstep.server.purchase;

import io.vertx.core.json.JsonObject;
import java.util.function.Supplier;

/**
 * A purchase that has come to an end.
 *
 * @param status completed, failed, expired or refunded
 * @param purchase as it is shown; made when asked for
 */
public record PurchaseEnd(String status, Supplier<JsonObject> purchase) {}
