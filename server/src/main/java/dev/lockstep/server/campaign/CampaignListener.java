package dev.lockstep.server.campaign;

import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.util.function.Supplier;

/** Joins the transaction in which an operator changes a campaign. */
@FunctionalInterface
public interface CampaignListener {
  CampaignListener NONE = (connection, campaign, change, view) -> {};

  /**
   * Called before COMMIT, and again if the transaction is retried. It must not commit; an exception
   * fails the change.
   *
   * @param change published, paused, resumed or closed
   * @param view the campaign after the change
   */
  void changed(Connection connection, long campaign, String change, Supplier<JsonObject> view);
}
