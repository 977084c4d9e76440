package dev.lockstep.server.cart;

import dev.lockstep.hold.Line;
import dev.lockstep.hold.PoolId;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.campaign.Campaign;
import dev.lockstep.server.campaign.Item;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What a buyer wants: layers or products, each with a quantity. */
public final class CartItems {
  private static final int MAX_ITEMS = 100;
  private static final ObjectShape QUANTITY =
      Shape.object().optional("quantity", Shape.integer(1, Line.MAX_QUANTITY));

  public static final Shape SHAPE =
      Shape.list(
          Shape.oneOfHaving(
              Map.of(
                  "layer",
                  QUANTITY.required("layer", Shape.integer(1, 50)),
                  "sku",
                  QUANTITY.required("sku", Shape.text(1, 64)))),
          1,
          MAX_ITEMS);

  private CartItems() {}

  /** Reads items of the shape {@link #SHAPE}. */
  public static List<Line> lines(Campaign campaign, JsonArray items) {
    List<Line> lines = new ArrayList<>(items.size());
    Map<PoolId, Integer> sums = new HashMap<>();
    for (int i = 0; i < items.size(); i++) {
      JsonObject wanted = items.getJsonObject(i);
      Item item = item(campaign, wanted, "items[" + i + "].");
      int quantity = wanted.getInteger("quantity", 1);
      if (sums.merge(item.pool(), quantity, Integer::sum) > Line.MAX_QUANTITY) {
        throw Problem.invalid("items", "ask for more than " + Line.MAX_QUANTITY + " of one")
            .asException();
      }
      lines.add(Line.of(item.pool(), quantity));
    }
    return lines;
  }

  private static Item item(Campaign campaign, JsonObject wanted, String at) {
    String field = wanted.containsKey("layer") ? "layer" : "sku";
    return campaign
        .item(String.valueOf(wanted.getValue(field)))
        .filter(item -> item.nameIn(new JsonObject()).containsKey(field))
        .orElseThrow(
            () -> Problem.invalid(at + field, "is not sold in this campaign").asException());
  }
}
