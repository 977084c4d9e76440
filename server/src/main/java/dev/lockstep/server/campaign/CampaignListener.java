package dev.lockstep.server.campaign;

import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.util.function.Supplier;

/** Something else that happens in the transaction in which an operator changes a campaign. */
@FunctionalInterface
public interface CampaignListener {
  CampaignListener NONE = (connection, campaign, change, view) -> {};

  /**
   * Called before COMMIT, perhaps again when the transaction is retried. It commits nothing, and
   * what it throws fails the change.
   *
   * @param change published, paused, resumed or closed
   * @param view the campaign as it is shown, after the change
   */
  void changed(Connection connection, long campaign, String change, Supplier<JsonObject> view);
}
