package dev.lockstep.server.campaign;

import dev.lockstep.hold.PoolId;
import io.vertx.core.json.JsonObject;

/**
 * Something a campaign sells: a layer of a triangle, or a product.
 *
 * @param pool its stock
 * @param code the layer's number or the product's SKU
 * @param price of one, in the currency's minor unit
 * @param total the quantity for sale
 */
public record Item(
    PoolId pool, CampaignKind kind, String code, String name, long price, int total) {

  /** Layer n, which has n positions. */
  static Item layer(int layer, long price) {
    return new Item(
        new PoolId(layer),
        CampaignKind.TRIANGLE,
        String.valueOf(layer),
        "Layer " + layer,
        price,
        layer);
  }

  /** The product at this index of a list of products. */
  static Item product(int index, JsonObject product) {
    return new Item(
        new PoolId(index + 1L),
        CampaignKind.DROP,
        product.getString("sku"),
        product.getString("name"),
        product.getLong("price"),
        product.getInteger("stock"));
  }

  /** Adds its name in JSON: {@code layer} or {@code sku}. */
  public JsonObject nameIn(JsonObject json) {
    return kind == CampaignKind.TRIANGLE
        ? json.put("layer", Integer.parseInt(code))
        : json.put("sku", code);
  }

  /** A unit of this layer as a position; units count from 0, columns from 1. */
  public JsonObject position(int unit) {
    int layer = Integer.parseInt(code);
    return new JsonObject().put("layer", layer).put("row", layer).put("column", unit + 1);
  }

  /** The unit of a {@link #position}. */
  public int unit(JsonObject position) {
    return position.getInteger("column") - 1;
  }
}
