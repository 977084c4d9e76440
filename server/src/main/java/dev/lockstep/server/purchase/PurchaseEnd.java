package dev.lockstep.server.purchase;

import io.vertx.core.json.JsonObject;
import java.util.function.Supplier;

/**
 * A purchase that has ended.
 *
 * @param status completed, failed, expired, refunded or partRefunded
 * @param purchase its view, made on demand
 */
public record PurchaseEnd(String status, Supplier<JsonObject> purchase) {}
