package dev.lockstep.server.campaign;

import dev.lockstep.hold.NewPool;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.campaign.Campaign.Prize;
import dev.lockstep.server.payment.CurrencyRules;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;

/** A new campaign, validated beyond the shape of the body. */
record NewCampaign(
    CampaignKind kind,
    String name,
    String currency,
    OptionalInt purchaseLimit,
    HoldTimes holdTimes,
    List<Item> items,
    List<Prize> prizes) {
  static final int MIN_BASE = 3;
  static final int MAX_BASE = 50;
  static final int MAX_PRODUCTS = 100;

  /** The most that card networks take: eight digits of the minor unit. */
  static final long MAX_PRICE = 99_999_999;

  private static final int MAX_PRIZES = 100;
  private static final int MAX_LIMIT = 10_000;

  static final Shape PRICE = Shape.integer(1, MAX_PRICE);
  static final Shape PRIZES =
      Shape.list(
          Shape.object()
              .required("name", Shape.text(1, 200))
              .required("quantity", Shape.integer(1, MAX_BASE * (MAX_BASE + 1) / 2)),
          0,
          MAX_PRIZES);

  /** The shape of a new campaign's body. */
  static Shape shape(HoldRules rules) {
    ObjectShape common =
        Shape.object()
            .required("kind", Shape.choice("triangle", "drop"))
            .required("name", Shape.text(1, 200))
            .required("currency", Shape.text(3, 3))
            .optional("purchaseLimit", Shape.nullable(Shape.integer(1, MAX_LIMIT)))
            .optional("holdSeconds", rules.seconds())
            .optional("maxExtensions", HoldTimes.EXTENSIONS)
            .optional("maxHoldSeconds", rules.secondsInAll());
    return Shape.oneOf(
        "kind",
        Map.of(
            "triangle",
            common
                .required("baseLength", Shape.integer(MIN_BASE, MAX_BASE))
                .optional("price", PRICE)
                .optional("layerPrices", Shape.list(PRICE, MIN_BASE, MAX_BASE))
                .optional("prizes", PRIZES),
            "drop",
            common.required(
                "products",
                Shape.list(
                    Shape.object()
                        .required("sku", Shape.text(1, 64))
                        .required("name", Shape.text(1, 200))
                        .required("price", PRICE)
                        .required("stock", Shape.integer(0, NewPool.MAX_TOTAL)),
                    1,
                    MAX_PRODUCTS))));
  }

  /** Reads a body of that {@link #shape}. */
  static NewCampaign of(JsonObject body, HoldRules rules) {
    CampaignKind kind = CampaignKind.of(body.getString("kind"));
    List<Item> items = kind == CampaignKind.TRIANGLE ? layers(body) : products(body);
    Integer limit = body.getInteger("purchaseLimit");
    return new NewCampaign(
        kind,
        body.getString("name"),
        currency(body.getString("currency")),
        limit == null ? OptionalInt.empty() : OptionalInt.of(limit),
        HoldTimes.of(body, rules),
        items,
        prizes(body, items));
  }

  /** Refuses lower case instead of guessing; also metals and test codes. */
  private static String currency(String code) {
    if (!CurrencyRules.isKnown(code)) {
      throw Problem.invalid("currency", "must be an ISO 4217 code such as JPY").asException();
    }
    return code;
  }

  private static List<Item> layers(JsonObject body) {
    int base = body.getInteger("baseLength");
    JsonArray prices = body.getJsonArray("layerPrices");
    Long price = body.getLong("price");
    if ((prices == null) == (price == null)) {
      throw Problem.invalid("price", "or layerPrices must be given, but not both").asException();
    }
    if (prices != null && prices.size() != base) {
      throw Problem.invalid("layerPrices", "must have one price per layer, " + base).asException();
    }
    List<Item> layers = new ArrayList<>(base);
    for (int layer = 1; layer <= base; layer++) {
      layers.add(Item.layer(layer, prices == null ? price : prices.getLong(layer - 1)));
    }
    return layers;
  }

  private static List<Item> products(JsonObject body) {
    JsonArray products = body.getJsonArray("products");
    List<Item> items = new ArrayList<>(products.size());
    Set<String> seen = new HashSet<>();
    long total = 0;
    for (int i = 0; i < products.size(); i++) {
      Item item = Item.product(i, products.getJsonObject(i));
      if (!seen.add(item.code())) {
        throw Problem.invalid("products[" + i + "].sku", "occurs twice").asException();
      }
      total += item.total();
      items.add(item);
    }
    if (total > NewPool.MAX_TOTAL) {
      throw Problem.invalid("products", "have more than " + NewPool.MAX_TOTAL + " in all")
          .asException();
    }
    return items;
  }

  private static List<Prize> prizes(JsonObject body, List<Item> items) {
    List<Prize> prizes = Prize.list(body.getJsonArray("prizes", new JsonArray()));
    int quantity = prizes.stream().mapToInt(Prize::quantity).sum();
    int positions = items.stream().mapToInt(Item::total).sum();
    if (quantity > positions) {
      throw Problem.invalid("prizes", "are more than the " + positions + " positions")
          .asException();
    }
    return prizes;
  }
}
