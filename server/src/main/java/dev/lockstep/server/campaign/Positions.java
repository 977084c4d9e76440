package dev.lockstep.server.campaign;

import dev.lockstep.hold.PoolId;
import dev.lockstep.server.api.Shape;
import dev.lockstep.tx.Transactor;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.PreparedStatement;
import java.sql.ResultSet;

/** Which positions of a triangle are free, held or sold; not whose they are. */
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

  // Reads the hold block's tables, which it does not yet list units of itself; locks nothing. A
  // unit
  // that has a hold is held or sold, since every other end of a hold gives its units back.
  private static final String READ =
      """
      SELECT u.pool, u.unit, h.state FROM lockstep.unit u
      LEFT JOIN lockstep.hold h ON h.scope = u.scope AND h.hold = u.hold
      WHERE u.scope = ? ORDER BY u.pool, u.unit""";
  private static final int SOLD = 1;

  private Positions() {}

  /** All of them, in order of layer and column; none for a campaign without positions. Blocks. */
  static JsonObject read(Transactor transactor, Campaign campaign) {
    JsonArray items =
        campaign.kind() == Kind.TRIANGLE && campaign.seedCommitment().isEmpty()
            ? allFree(campaign)
            : fromStock(transactor, campaign);
    return new JsonObject().put("items", items).put("next", null);
  }

  private static JsonArray allFree(Campaign campaign) {
    JsonArray items = new JsonArray();
    for (Item layer : campaign.items()) {
      for (int unit = 0; unit < layer.total(); unit++) {
        items.add(layer.position(unit).put("state", "free"));
      }
    }
    return items;
  }

  private static JsonArray fromStock(Transactor transactor, Campaign campaign) {
    return transactor.call(
        connection -> {
          JsonArray items = new JsonArray();
          try (PreparedStatement statement = connection.prepareStatement(READ)) {
            statement.setLong(1, campaign.id());
            try (ResultSet row = statement.executeQuery()) {
              while (row.next()) {
                int state = row.getInt(3);
                String shown = row.wasNull() ? "free" : state == SOLD ? "sold" : "held";
                Item layer = campaign.item(new PoolId(row.getLong(1)));
                items.add(layer.position(row.getInt(2)).put("state", shown));
              }
            }
          }
          return items;
        });
  }
}
