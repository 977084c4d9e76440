package dev.lockstep.server.cart;

import dev.lockstep.hold.HeldLine;
import dev.lockstep.hold.Hold;
import dev.lockstep.hold.Line;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.campaign.Campaign;
import dev.lockstep.server.campaign.Item;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A hold as JSON, and the parts that other views share. */
public final class CartView {
  private static final long ANY = Long.MAX_VALUE;
  private static final Shape COORDINATE = Shape.integer(1, 50);

  private static final ObjectShape LINE =
      Shape.object()
          .required("quantity", Shape.integer(1, Integer.MAX_VALUE))
          .required("price", Shape.integer(0, ANY))
          .required("positions", positionsShape());

  /** Lines with prices and positions. */
  public static final Shape ITEMS = items(1);

  public static final Shape MONEY =
      Shape.object()
          .required("amount", Shape.integer(0, ANY))
          .required("currency", Shape.text(3, 3));

  static final ObjectShape SHAPE =
      Shape.object()
          .required("id", Shape.text(1, 64))
          .required("campaign", Shape.text(1, 32))
          .required("buyer", Shape.text(1, 200))
          .required("state", Shape.choice("held", "sold", "released", "expired", "returned"))
          .required("createdAt", Shape.time())
          .required("expiresAt", Shape.time())
          .required("extensions", Shape.integer(0, Integer.MAX_VALUE))
          .required("endedAt", Shape.nullable(Shape.time()))
          .required("items", ITEMS)
          .required("total", MONEY);

  private CartView() {}

  /** A list of at least {@code min} items. */
  public static Shape items(int min) {
    return Shape.list(
        Shape.oneOfHaving(
            Map.of(
                "layer",
                LINE.required("layer", COORDINATE),
                "sku",
                LINE.required("sku", Shape.text(1, 64)))),
        min,
        100);
  }

  public static Shape positionsShape() {
    return Shape.list(
        Shape.object()
            .required("layer", COORDINATE)
            .required("row", COORDINATE)
            .required("column", COORDINATE),
        0,
        Line.MAX_QUANTITY);
  }

  /** A hold's lines in the shape {@link #ITEMS}. */
  public static JsonArray items(Campaign campaign, Hold hold) {
    JsonArray items = new JsonArray();
    for (HeldLine line : hold.lines()) {
      Item item = campaign.item(line.pool());
      JsonArray positions = new JsonArray();
      line.units().forEach(unit -> positions.add(item.position(unit)));
      items.add(
          item.nameIn(new JsonObject())
              .put("quantity", line.quantity())
              .put("price", item.price())
              .put("positions", positions));
    }
    return items;
  }

  /** The lines that {@link #items} shows, with their units. */
  public static List<Line> lines(Campaign campaign, JsonArray items) {
    List<Line> lines = new ArrayList<>(items.size());
    for (int i = 0; i < items.size(); i++) {
      JsonObject shown = items.getJsonObject(i);
      String code = String.valueOf(shown.getValue(shown.containsKey("layer") ? "layer" : "sku"));
      Item item = campaign.item(code).orElseThrow();
      List<Integer> units =
          shown.getJsonArray("positions").stream()
              .map(position -> item.unit((JsonObject) position))
              .toList();
      lines.add(new Line(item.pool(), shown.getInteger("quantity"), units));
    }
    return lines;
  }

  /** What {@link #items} add up to, in the currency's minor unit. */
  public static long total(JsonArray items) {
    return items.stream()
        .map(JsonObject.class::cast)
        .mapToLong(item -> item.getLong("price") * item.getInteger("quantity"))
        .sum();
  }

  /** What a hold costs, in the currency's minor unit. */
  public static long total(Campaign campaign, Hold hold) {
    return hold.lines().stream()
        .mapToLong(line -> campaign.item(line.pool()).price() * line.quantity())
        .sum();
  }

  /** In the shape {@link #MONEY}. */
  public static JsonObject money(long amount, String currency) {
    return new JsonObject().put("amount", amount).put("currency", currency);
  }

  static JsonObject json(Campaign campaign, Hold hold) {
    return new JsonObject()
        .put("id", CartId.of(hold).toString())
        .put("campaign", String.valueOf(campaign.id()))
        .put("buyer", hold.buyer().value())
        .put("state", hold.state().name().toLowerCase(Locale.ROOT))
        .put("createdAt", hold.createdAt().toString())
        .put("expiresAt", hold.expiresAt().toString())
        .put("extensions", hold.extensions())
        .put("endedAt", hold.end().map(end -> end.at().toString()).orElse(null))
        .put("items", items(campaign, hold))
        .put("total", money(total(campaign, hold), campaign.currency()));
  }
}
