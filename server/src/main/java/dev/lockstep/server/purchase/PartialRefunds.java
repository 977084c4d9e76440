package dev.lockstep.server.purchase;

import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.cart.CartView;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The partial refunds of a purchase.
 *
 * @param money refunded in total
 * @param goods what the returned goods had cost
 * @param done the finished parts as JSON; not changed after construction
 * @param part the one in progress; empty: none, or all that is left
 */
public record PartialRefunds(long money, long goods, JsonArray done, Optional<Part> part) {
  /** The most refunds of one purchase. */
  static final int MOST = 50;

  static final PartialRefunds NOTHING = new PartialRefunds(0, 0, new JsonArray(), Optional.empty());

  static final ObjectShape SHAPE =
      Shape.object()
          .required("number", Shape.integer(1, MOST))
          .required("amount", CartView.MONEY)
          .required("items", CartView.items(0))
          .required("reason", Shape.nullable(Shape.text(1, 500)))
          .required("at", Shape.time());

  /**
   * A part to refund.
   *
   * @param number from 1
   * @param items the goods to return, with prices and positions; none: only money goes back
   * @param view how it is shown
   */
  record Part(int number, long amount, JsonArray items, JsonObject view) {
    JsonObject json() {
      return new JsonObject()
          .put("number", number)
          .put("amount", amount)
          .put("items", items)
          .put("view", view);
    }

    static Part of(JsonObject json) {
      return new Part(
          json.getInteger("number"),
          json.getLong("amount"),
          json.getJsonArray("items"),
          json.getJsonObject("view"));
    }
  }

  /** Reads the column; null: nothing was refunded. */
  public static PartialRefunds parse(@Nullable String text) {
    if (text == null) {
      return NOTHING;
    }
    JsonObject json = new JsonObject(text);
    return new PartialRefunds(
        json.getLong("money"),
        json.getLong("goods"),
        json.getJsonArray("done"),
        Optional.ofNullable(json.getJsonObject("part")).map(Part::of));
  }

  String text() {
    JsonObject json = new JsonObject().put("money", money).put("goods", goods).put("done", done);
    part.ifPresent(one -> json.put("part", one.json()));
    return json.encode();
  }

  /** What is being refunded now. */
  public long inProgress() {
    return part.map(Part::amount).orElse(0L);
  }

  /** The number of finished parts. */
  public int parts() {
    return done.size();
  }

  /** Begins the next part. */
  PartialRefunds beginning(Part next) {
    return new PartialRefunds(money, goods, done, Optional.of(next));
  }

  /**
   * Finishes the part in progress.
   *
   * @param withGoods whether its goods came back, too
   */
  PartialRefunds donePart(boolean withGoods) {
    Part one = part.orElseThrow();
    JsonObject view = one.view();
    if (!withGoods && !one.items().isEmpty()) {
      // They stay sold: a draw depends on them.
      view = view.copy().put("items", new JsonArray());
    }
    return new PartialRefunds(
        money + one.amount(),
        goods + (withGoods ? CartView.total(one.items()) : 0),
        done.copy().add(view),
        Optional.empty());
  }

  /** Everything is refunded. */
  PartialRefunds all(long total) {
    return new PartialRefunds(total, goods, done, Optional.empty());
  }

  /** The items of a purchase without those that come back. */
  static JsonArray without(JsonArray items, JsonArray back) {
    Map<String, JsonObject> gone = new HashMap<>();
    back.forEach(one -> gone.put(code((JsonObject) one), (JsonObject) one));
    JsonArray left = new JsonArray();
    for (Object one : items) {
      JsonObject item = (JsonObject) one;
      JsonObject less = gone.get(code(item));
      if (less == null) {
        left.add(item);
        continue;
      }
      int quantity = item.getInteger("quantity") - less.getInteger("quantity");
      if (quantity > 0) {
        JsonArray positions = item.getJsonArray("positions").copy();
        less.getJsonArray("positions").forEach(positions::remove);
        left.add(item.copy().put("quantity", quantity).put("positions", positions));
      }
    }
    return left;
  }

  /** The layer or sku of an item. */
  static String code(JsonObject item) {
    return String.valueOf(item.getValue(item.containsKey("layer") ? "layer" : "sku"));
  }
}
