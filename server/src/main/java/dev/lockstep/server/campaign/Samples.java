package dev.lockstep.server.campaign;

import dev.lockstep.hold.PoolId;
import dev.lockstep.server.campaign.Campaign.Prize;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/** The sample campaigns of a new server. */
final class Samples {
  private static final int BASE = 10;

  private Samples() {}

  static List<NewCampaign> all(HoldRules rules) {
    HoldTimes times = HoldTimes.of(new JsonObject(), rules);
    return List.of(triangle(times), drop(times));
  }

  /** Prices rise towards the apex. */
  private static NewCampaign triangle(HoldTimes times) {
    return new NewCampaign(
        CampaignKind.TRIANGLE,
        "Sample triangle",
        "JPY",
        OptionalInt.of(3),
        times,
        IntStream.rangeClosed(1, BASE)
            .mapToObj(layer -> Item.layer(layer, 500L * (BASE + 1 - layer)))
            .toList(),
        List.of(new Prize("Grand prize", 1), new Prize("Runner-up", 5)));
  }

  private static NewCampaign drop(HoldTimes times) {
    return new NewCampaign(
        CampaignKind.DROP,
        "Sample drop",
        "USD",
        OptionalInt.of(5),
        times,
        List.of(
            new Item(new PoolId(1), CampaignKind.DROP, "SHIRT", "Shirt", 2_500, 100),
            new Item(new PoolId(2), CampaignKind.DROP, "POSTER", "Signed poster", 6_000, 20),
            new Item(new PoolId(3), CampaignKind.DROP, "PIN", "Enamel pin", 800, 500)),
        List.of());
  }
}
