package dev.lockstep.server.campaign;

import dev.lockstep.hold.HoldState;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.PoolId;
import dev.lockstep.server.api.Shape;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Shows which positions of a triangle are free, held or sold, but not who has them. */
final class Positions {
  private static final Shape COORDINATE = Shape.integer(1, NewCampaign.MAX_BASE);
  private static final int MAX = NewCampaign.MAX_BASE * (NewCampaign.MAX_BASE + 1) / 2;

  static final Shape SHAPE =
      Shape.object()
          .required(
              "items",
              Shape.list(
                  Shape.object()
                      .required("layer", COORDINATE)
                      .required("row", COORDINATE)
                      .required("column", COORDINATE)
                      .required("state", Shape.choice("free", "held", "sold")),
                  0,
                  MAX))
          .required("next", Shape.nullable(Shape.text(1, 1)));

  private Positions() {}

  private record PoolUnit(PoolId pool, int unit) {}

  /**
   * All positions by layer and column; none for a campaign without positions. Before publication
   * there is no stock, so all are free. Blocks.
   */
  static JsonObject read(Holds holds, Campaign campaign) {
    JsonArray items = new JsonArray();
    if (campaign.kind() == CampaignKind.TRIANGLE) {
      Map<PoolUnit, HoldState> taken = new HashMap<>();
      holds
          .takenUnits(campaign.scope())
          .forEach(unit -> taken.put(new PoolUnit(unit.pool(), unit.unit()), unit.state()));
      for (Item layer : campaign.items()) {
        for (int unit = 0; unit < layer.total(); unit++) {
          HoldState state = taken.get(new PoolUnit(layer.pool(), unit));
          items.add(layer.position(unit).put("state", shown(state)));
        }
      }
    }
    return new JsonObject().put("items", items).put("next", null);
  }

  private static String shown(@Nullable HoldState state) {
    return state == null ? "free" : state == HoldState.SOLD ? "sold" : "held";
  }
}
