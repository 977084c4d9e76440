package dev.lockstep.server.campaign;

import dev.lockstep.hold.Pool;
import dev.lockstep.hold.PoolCounts;
import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Shape;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** A campaign with its stock, as JSON. */
final class CampaignView {
  private static final long ANY = Long.MAX_VALUE;
  private static final Shape COUNT = Shape.integer(0, Integer.MAX_VALUE);

  private static final ObjectShape COUNTS =
      Shape.object()
          .required("total", COUNT)
          .required("held", COUNT)
          .required("sold", COUNT)
          .required("free", COUNT);

  private static final ObjectShape LAYER =
      COUNTS
          .required("layer", Shape.integer(1, NewCampaign.MAX_BASE))
          .required("price", NewCampaign.PRICE)
          .required("paused", Shape.bool());

  private static final ObjectShape PRODUCT =
      COUNTS
          .required("sku", Shape.text(1, 64))
          .required("name", Shape.text(1, 200))
          .required("price", NewCampaign.PRICE)
          .required("paused", Shape.bool());

  /** The counts alone, as a live stream sends them. */
  static final ObjectShape STOCK =
      COUNTS
          .required("status", Shape.choice("draft", "published", "soldOut", "drawn", "closed"))
          .required("paused", Shape.bool())
          .required("pauseReason", Shape.nullable(Shape.text(1, 1_000)))
          .optional("layers", Shape.list(LAYER, NewCampaign.MIN_BASE, NewCampaign.MAX_BASE))
          .optional("products", Shape.list(PRODUCT, 1, NewCampaign.MAX_PRODUCTS));

  static final ObjectShape SHAPE =
      STOCK
          .required("id", Shape.text(1, 32))
          .required("kind", Shape.choice("triangle", "drop"))
          .required("name", Shape.text(1, 200))
          .required("currency", Shape.text(3, 3))
          .required("purchaseLimit", Shape.nullable(Shape.integer(1, ANY)))
          .required("holdSeconds", HoldTimes.SECONDS)
          .required("maxExtensions", HoldTimes.EXTENSIONS)
          .required("maxHoldSeconds", HoldTimes.SECONDS_IN_ALL)
          .required("seedCommitment", Shape.nullable(Shape.text(64, 64)))
          .required("prizes", NewCampaign.PRIZES)
          .required("createdAt", Shape.time())
          .required("publishedAt", Shape.nullable(Shape.time()))
          .required("updatedAt", Shape.time());

  private CampaignView() {}

  /**
   * @param pools the stock; empty if the campaign was never published
   */
  static JsonObject full(Campaign campaign, List<Pool> pools) {
    JsonArray prizes = new JsonArray();
    campaign
        .prizes()
        .forEach(
            prize ->
                prizes.add(
                    new JsonObject().put("name", prize.name()).put("quantity", prize.quantity())));
    JsonObject json =
        new JsonObject()
            .put("id", String.valueOf(campaign.id()))
            .put("kind", campaign.kind().label())
            .put("name", campaign.name());
    stock(campaign, pools).forEach(member -> json.put(member.getKey(), member.getValue()));
    return json.put("currency", campaign.currency())
        .put(
            "purchaseLimit",
            campaign.purchaseLimit().isPresent() ? campaign.purchaseLimit().getAsInt() : null)
        .put("holdSeconds", campaign.holdTimes().holdSeconds())
        .put("maxExtensions", campaign.holdTimes().maxExtensions())
        .put("maxHoldSeconds", campaign.holdTimes().maxHoldSeconds())
        .put("seedCommitment", campaign.seedCommitment().orElse(null))
        .put("prizes", prizes)
        .put("createdAt", campaign.times().createdAt().toString())
        .put("publishedAt", campaign.times().publishedAt().map(Instant::toString).orElse(null))
        .put("updatedAt", campaign.times().updatedAt().toString());
  }

  static JsonObject stock(Campaign campaign, List<Pool> pools) {
    int held = pools.stream().mapToInt(pool -> pool.counts().held()).sum();
    int sold = pools.stream().mapToInt(pool -> pool.counts().sold()).sum();
    boolean open = campaign.status() == CampaignStatus.PUBLISHED;
    Optional<String> reason =
        pools.stream().filter(pool -> open).flatMap(p -> p.pauseReason().stream()).findFirst();
    JsonObject json =
        new JsonObject()
            .put("status", status(campaign, sold))
            .put("paused", reason.isPresent())
            .put("pauseReason", reason.orElse(null));
    counts(json, campaign.total(), held, sold);
    JsonArray items = new JsonArray();
    for (int i = 0; i < campaign.items().size(); i++) {
      Item item = campaign.items().get(i);
      items.add(item(item, i < pools.size() ? Optional.of(pools.get(i)) : Optional.empty(), open));
    }
    return json.put(campaign.kind() == CampaignKind.TRIANGLE ? "layers" : "products", items);
  }

  /** "Drawn" outranks everything else. */
  private static String status(Campaign campaign, int sold) {
    if (campaign.drawn()) {
      return "drawn";
    }
    boolean soldOut =
        campaign.status() == CampaignStatus.PUBLISHED && sold > 0 && sold == campaign.total();
    return soldOut ? "soldOut" : campaign.status().label();
  }

  private static JsonObject item(Item item, Optional<Pool> pool, boolean open) {
    JsonObject json = item.nameIn(new JsonObject());
    if (item.kind() == CampaignKind.DROP) {
      json.put("name", item.name());
    }
    json.put("price", item.price());
    json.put("paused", open && pool.flatMap(Pool::pauseReason).isPresent());
    int held = pool.map(Pool::counts).map(PoolCounts::held).orElse(0);
    int sold = pool.map(Pool::counts).map(PoolCounts::sold).orElse(0);
    return counts(json, item.total(), held, sold);
  }

  private static JsonObject counts(JsonObject json, int total, int held, int sold) {
    return json.put("total", total)
        .put("held", held)
        .put("sold", sold)
        .put("free", total - held - sold);
  }
}
