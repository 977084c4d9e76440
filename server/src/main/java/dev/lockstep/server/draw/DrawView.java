package dev.lockstep.server.draw;

import dev.lockstep.server.api.ObjectShape;
import dev.lockstep.server.api.Shape;
import dev.lockstep.server.campaign.Campaign;
import dev.lockstep.server.draw.Ranking.Winner;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A draw as JSON: the document that docs/draw.md describes and {@code verify-draw} reads. */
final class DrawView {
  private static final int MAX_POSITIONS = 1_275;
  private static final int MAX_PRIZES = 100;
  private static final Shape HEX = Shape.text(64, 64);
  private static final Shape COORDINATE = Shape.integer(1, 50);
  private static final Shape PURCHASE = Shape.text(1, 100);

  private static final ObjectShape POSITION =
      Shape.object()
          .required("layer", COORDINATE)
          .required("row", COORDINATE)
          .required("column", COORDINATE);

  private static final ObjectShape ENTRANT =
      Shape.object().required("position", POSITION).required("purchase", PURCHASE);

  static final Shape SHAPE =
      Shape.object()
          .required("campaign", Shape.text(1, 32))
          .required("status", Shape.choice("pending", "drawn"))
          .required("algorithm", Shape.text(1, 64))
          .required("commitment", Shape.nullable(HEX))
          .optional("seed", HEX)
          .required("beacon", Shape.nullable(HEX))
          .required("frozenAt", Shape.nullable(Shape.time()))
          .required("drawnAt", Shape.nullable(Shape.time()))
          .required(
              "prizes",
              Shape.list(
                  Shape.object()
                      .required("name", Shape.text(1, 200))
                      .required("quantity", Shape.integer(1, MAX_POSITIONS)),
                  0,
                  MAX_PRIZES))
          .required("entrantsHash", Shape.nullable(HEX))
          .required("entrants", Shape.list(ENTRANT, 0, MAX_POSITIONS))
          .required(
              "winners",
              Shape.list(
                  Shape.object()
                      .required("prize", Shape.text(1, 200))
                      .required("position", POSITION)
                      .required("purchase", PURCHASE),
                  0,
                  MAX_POSITIONS));

  private DrawView() {}

  /**
   * @param seed called only once the campaign is drawn
   */
  static JsonObject json(Campaign campaign, Optional<DrawTable.Row> draw, Optional<byte[]> seed) {
    boolean drawn = draw.flatMap(DrawTable.Row::drawnAt).isPresent();
    JsonObject json =
        new JsonObject()
            .put("campaign", String.valueOf(campaign.id()))
            .put("status", drawn ? "drawn" : "pending")
            .put("algorithm", Ranking.ALGORITHM)
            .put("commitment", campaign.seedCommitment().orElse(null));
    if (drawn) {
      json.put("seed", HexFormat.of().formatHex(seed.orElseThrow()));
    }
    return json.put("beacon", draw.flatMap(DrawTable.Row::beacon).orElse(null))
        .put("frozenAt", time(draw.map(DrawTable.Row::frozenAt)))
        .put("drawnAt", time(draw.flatMap(DrawTable.Row::drawnAt)))
        .put("prizes", prizes(campaign))
        .put("entrantsHash", draw.map(DrawTable.Row::entrantsHash).orElse(null))
        .put("entrants", draw.map(row -> entrants(row.entrants())).orElseGet(JsonArray::new))
        .put("winners", draw.flatMap(DrawTable.Row::winners).orElseGet(JsonArray::new));
  }

  static JsonArray winners(List<Winner> winners) {
    JsonArray json = new JsonArray();
    for (Winner winner : winners) {
      json.add(
          new JsonObject()
              .put("prize", winner.prize())
              .put("position", position(winner.entrant()))
              .put("purchase", winner.entrant().purchase()));
    }
    return json;
  }

  private static JsonArray entrants(EntrantList list) {
    JsonArray json = new JsonArray();
    for (Entrant entrant : list.entrants()) {
      json.add(
          new JsonObject().put("position", position(entrant)).put("purchase", entrant.purchase()));
    }
    return json;
  }

  private static JsonArray prizes(Campaign campaign) {
    JsonArray json = new JsonArray();
    campaign
        .prizes()
        .forEach(
            prize ->
                json.add(
                    new JsonObject().put("name", prize.name()).put("quantity", prize.quantity())));
    return json;
  }

  private static JsonObject position(Entrant entrant) {
    return new JsonObject()
        .put("layer", entrant.layer())
        .put("row", entrant.layer())
        .put("column", entrant.column());
  }

  private static @Nullable String time(Optional<Instant> at) {
    return at.map(Instant::toString).orElse(null);
  }
}
