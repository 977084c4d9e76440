package dev.lockstep.server.campaign;

import dev.lockstep.hold.Holds;
import dev.lockstep.hold.StockChange;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Page;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Shape;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A campaign's stock audit, oldest first.
 *
 * <p>Each pool numbers its changes 1, 2, 3 …; a page merges the pools by time. The cursor holds one
 * number per pool, not a time, so a change that commits late with an early time is still shown.
 */
final class StockTrail {
  private static final Shape COUNT = Shape.integer(0, Integer.MAX_VALUE);

  static final ObjectShape SHAPE =
      Shape.object()
          .required("seq", Shape.integer(1, Long.MAX_VALUE))
          .required("pool", Shape.text(1, 64))
          .required(
              "cause",
              Shape.choice(
                  "acquired", "changed", "sold", "released", "expired", "returned", "restocked"))
          .required("actor", Shape.text(1, 200))
          .required("hold", Shape.text(1, 64))
          .required("heldBefore", COUNT)
          .required("heldAfter", COUNT)
          .required("soldBefore", COUNT)
          .required("soldAfter", COUNT)
          .required("at", Shape.time());

  private StockTrail() {}

  /**
   * Blocks.
   *
   * @param only the layer or SKU to show; empty for all
   */
  static JsonObject page(Holds holds, Campaign campaign, Optional<String> only, Page page) {
    only.filter(code -> campaign.item(code).isEmpty())
        .ifPresent(
            code -> {
              throw Problem.invalid("pool", "is not sold in this campaign").asException();
            });
    int pools = campaign.items().size();
    long[] seen = page.after(text -> cursor(text, pools)).orElseGet(() -> new long[pools]);
    List<Deque<StockChange>> ahead = new ArrayList<>();
    for (int i = 0; i < seen.length; i++) {
      Item item = campaign.items().get(i);
      if (only.isEmpty() || only.get().equals(item.code())) {
        ahead.add(
            new ArrayDeque<>(
                holds.audit(campaign.scope(), item.pool(), seen[i], page.limit() + 1)));
      }
    }
    JsonArray items = new JsonArray();
    Optional<Deque<StockChange>> next = oldest(ahead);
    while (next.isPresent() && items.size() < page.limit()) {
      StockChange change = next.get().remove();
      seen[Math.toIntExact(change.pool().value() - 1)] = change.seq();
      items.add(json(campaign, change));
      next = oldest(ahead);
    }
    return new JsonObject()
        .put("items", items)
        .put("next", next.isPresent() ? page.cursor(encode(seen)) : null);
  }

  private static Optional<Deque<StockChange>> oldest(List<Deque<StockChange>> ahead) {
    return ahead.stream()
        .filter(changes -> !changes.isEmpty())
        .min(
            Comparator.comparing((Deque<StockChange> changes) -> changes.element().at())
                .thenComparing(changes -> changes.element().pool()));
  }

  private static JsonObject json(Campaign campaign, StockChange change) {
    return new JsonObject()
        .put("seq", change.seq())
        .put("pool", campaign.item(change.pool()).code())
        .put("cause", change.cause().name().toLowerCase(Locale.ROOT))
        .put("actor", change.actor())
        .put("hold", campaign.id() + "." + change.hold())
        .put("heldBefore", change.before().held())
        .put("heldAfter", change.after().held())
        .put("soldBefore", change.before().sold())
        .put("soldAfter", change.after().sold())
        .put("at", change.at().toString());
  }

  private static String encode(long[] seen) {
    return Arrays.stream(seen)
        .mapToObj(seq -> Long.toString(seq, Character.MAX_RADIX))
        .collect(Collectors.joining("."));
  }

  private static long[] cursor(String text, int pools) {
    long[] seen =
        Arrays.stream(text.split("\\.", -1))
            .mapToLong(part -> Long.parseLong(part, Character.MAX_RADIX))
            .toArray();
    if (seen.length != pools) {
      throw new IllegalArgumentException("not the cursor of " + pools + " pools");
    }
    return seen;
  }
}
