package dev.lockstep.server.campaign;

import dev.lockstep.server.act.Act;
import dev.lockstep.server.campaign.Campaign.Prize;
import dev.lockstep.server.campaign.Campaign.Times;
import dev.lockstep.sql.Sha256;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** The tables of campaigns and of actions on them. Uses the caller's connection. */
final class CampaignTable {
  // "Drawn" is read from the table of draws. If it were stored here too, the last sale would lock
  // the campaign after its pools, while a pausing operator locks them in the opposite order.
  private static final String COLUMNS =
      """
      id, kind, name, currency, purchase_limit, hold_seconds, layer_prices, products, prizes, status, seed,
      EXISTS (SELECT 1 FROM lockstep_server.draw d
              WHERE d.campaign = campaign.id AND d.drawn_at IS NOT NULL) AS drawn,
      max_extensions, max_hold_seconds, created_at, published_at, updated_at""";

  private static final String INSERT =
      """
      INSERT INTO lockstep_server.campaign
        (kind, name, currency, purchase_limit, hold_seconds, layer_prices, products, prizes, created_by,
         max_extensions, max_hold_seconds)
      VALUES (?, ?, ?, ?, ?, ?, ?::jsonb, ?::jsonb, ?, ?, ?) RETURNING\s"""
          + COLUMNS;

  private static final String READ =
      "SELECT " + COLUMNS + " FROM lockstep_server.campaign WHERE id = ?";

  // Taken before any pool, so that operators' actions on one campaign are serialized. NO KEY, so
  // that rows that reference the campaign while holding a pool do not wait.
  private static final String LOCK = READ + " FOR NO KEY UPDATE";

  private static final String SEED = "SELECT seed FROM lockstep_server.campaign WHERE id = ?";

  private static final String PAGE =
      "SELECT "
          + COLUMNS
          + """
           FROM lockstep_server.campaign
          WHERE id > ? AND (published_at IS NOT NULL OR ?) ORDER BY id LIMIT ?""";

  private static final String SET_STATUS =
      """
      UPDATE lockstep_server.campaign
      SET status = ?, seed = coalesce(seed, ?),
        published_at = CASE WHEN ? = 'published' THEN now() ELSE published_at END
      WHERE id = ?""";

  private static final String TOUCH =
      "UPDATE lockstep_server.campaign SET updated_at = now() WHERE id = ?";

  private static final String RECORD =
      """
      INSERT INTO lockstep_server.campaign_action (campaign, action, actor, reason, subject)
      VALUES (?, ?, ?, ?, ?)""";

  private static final String ACTIONS =
      """
      SELECT id, action, actor, reason, at, subject FROM lockstep_server.campaign_action
      WHERE campaign = ? AND id > ? ORDER BY id LIMIT ?""";

  // Held until commit: if two nodes start at once, one creates the samples.
  private static final String LOCK_TABLE =
      "LOCK TABLE lockstep_server.campaign IN SHARE ROW EXCLUSIVE MODE";
  private static final String ANY = "SELECT EXISTS (SELECT 1 FROM lockstep_server.campaign)";

  private CampaignTable() {}

  static Campaign insert(Connection connection, NewCampaign campaign, String by)
      throws SQLException {
    boolean triangle = campaign.kind() == CampaignKind.TRIANGLE;
    try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
      statement.setString(1, campaign.kind().label());
      statement.setString(2, campaign.name());
      statement.setString(3, campaign.currency());
      if (campaign.purchaseLimit().isPresent()) {
        statement.setInt(4, campaign.purchaseLimit().getAsInt());
      } else {
        statement.setNull(4, Types.INTEGER);
      }
      statement.setInt(5, campaign.holdTimes().holdSeconds());
      Object[] prices = campaign.items().stream().map(Item::price).toArray();
      statement.setArray(6, triangle ? connection.createArrayOf("int8", prices) : null);
      statement.setString(7, triangle ? null : products(campaign.items()).encode());
      statement.setString(8, prizes(campaign.prizes()).encode());
      statement.setString(9, by);
      statement.setInt(10, campaign.holdTimes().maxExtensions());
      statement.setInt(11, campaign.holdTimes().maxHoldSeconds());
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        return read(row);
      }
    }
  }

  static Optional<Campaign> find(Connection connection, long id) throws SQLException {
    return one(connection, READ, id);
  }

  static Optional<Campaign> lock(Connection connection, long id) throws SQLException {
    return one(connection, LOCK, id);
  }

  /** Secret until the draw. */
  static Optional<byte[]> seed(Connection connection, long id) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(SEED)) {
      statement.setLong(1, id);
      try (ResultSet row = statement.executeQuery()) {
        return row.next() ? Optional.ofNullable(row.getBytes(1)) : Optional.empty();
      }
    }
  }

  /**
   * @param drafts whether to include campaigns that were never published
   */
  static List<Campaign> page(Connection connection, long after, boolean drafts, int limit)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(PAGE)) {
      statement.setLong(1, after);
      statement.setBoolean(2, drafts);
      statement.setInt(3, limit);
      List<Campaign> campaigns = new ArrayList<>();
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          campaigns.add(read(row));
        }
      }
      return campaigns;
    }
  }

  /** Once set, a seed stays. */
  static void setStatus(
      Connection connection, long id, CampaignStatus status, byte @Nullable [] seed)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(SET_STATUS)) {
      statement.setString(1, status.label());
      statement.setBytes(2, seed);
      statement.setString(3, status.label());
      statement.setLong(4, id);
      statement.executeUpdate();
    }
  }

  /** Records that the campaign changed. The caller has locked it. */
  static void touch(Connection connection, long id) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(TOUCH)) {
      statement.setLong(1, id);
      statement.executeUpdate();
    }
  }

  static void record(Connection connection, long id, Act act) throws SQLException {
    record(connection, id, act.action(), act.actor(), act.reason().orElse(null), act.subject());
  }

  static void record(
      Connection connection, long id, String action, String actor, @Nullable String reason)
      throws SQLException {
    record(connection, id, action, actor, reason, null);
  }

  private static void record(
      Connection connection,
      long id,
      String action,
      String actor,
      @Nullable String reason,
      @Nullable String subject)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(RECORD)) {
      statement.setLong(1, id);
      statement.setString(2, action);
      statement.setString(3, actor);
      statement.setString(4, reason);
      statement.setString(5, subject);
      statement.executeUpdate();
    }
  }

  /** The actions on a campaign, oldest first. */
  static List<Action> actions(Connection connection, long id, long after, int limit)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(ACTIONS)) {
      statement.setLong(1, id);
      statement.setLong(2, after);
      statement.setInt(3, limit);
      List<Action> actions = new ArrayList<>();
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          actions.add(
              new Action(
                  row.getLong("id"),
                  row.getString("action"),
                  row.getString("actor"),
                  Optional.ofNullable(row.getString("reason")),
                  row.getObject("at", OffsetDateTime.class).toInstant(),
                  Optional.ofNullable(row.getString("subject"))));
        }
      }
      return actions;
    }
  }

  /** Locks out other writers first. */
  static boolean isEmpty(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(LOCK_TABLE);
      try (ResultSet row = statement.executeQuery(ANY)) {
        row.next();
        return !row.getBoolean(1);
      }
    }
  }

  private static Optional<Campaign> one(Connection connection, String sql, long id)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setLong(1, id);
      try (ResultSet row = statement.executeQuery()) {
        return row.next() ? Optional.of(read(row)) : Optional.empty();
      }
    }
  }

  private static Campaign read(ResultSet row) throws SQLException {
    CampaignKind kind = CampaignKind.of(row.getString("kind"));
    int limit = row.getInt("purchase_limit");
    OptionalInt purchaseLimit = row.wasNull() ? OptionalInt.empty() : OptionalInt.of(limit);
    return new Campaign(
        row.getLong("id"),
        kind,
        row.getString("name"),
        row.getString("currency"),
        purchaseLimit,
        new HoldTimes(
            row.getInt("hold_seconds"),
            row.getInt("max_extensions"),
            row.getInt("max_hold_seconds")),
        kind == CampaignKind.TRIANGLE
            ? layers((Long[]) row.getArray("layer_prices").getArray())
            : products(new JsonArray(row.getString("products"))),
        Prize.list(new JsonArray(row.getString("prizes"))),
        CampaignStatus.of(row.getString("status")),
        Optional.ofNullable(row.getBytes("seed")).map(CampaignTable::commitment),
        row.getBoolean("drawn"),
        new Times(
            row.getObject("created_at", OffsetDateTime.class).toInstant(),
            Optional.ofNullable(row.getObject("published_at", OffsetDateTime.class))
                .map(OffsetDateTime::toInstant),
            row.getObject("updated_at", OffsetDateTime.class).toInstant()));
  }

  private static List<Item> layers(Long[] prices) {
    List<Item> layers = new ArrayList<>(prices.length);
    for (int i = 0; i < prices.length; i++) {
      layers.add(Item.layer(i + 1, prices[i]));
    }
    return layers;
  }

  private static JsonArray products(List<Item> items) {
    JsonArray products = new JsonArray();
    for (Item item : items) {
      products.add(
          new JsonObject()
              .put("sku", item.code())
              .put("name", item.name())
              .put("price", item.price())
              .put("stock", item.total()));
    }
    return products;
  }

  private static List<Item> products(JsonArray products) {
    List<Item> items = new ArrayList<>(products.size());
    for (int i = 0; i < products.size(); i++) {
      items.add(Item.product(i, products.getJsonObject(i)));
    }
    return items;
  }

  private static JsonArray prizes(List<Prize> prizes) {
    JsonArray json = new JsonArray();
    prizes.forEach(
        prize ->
            json.add(new JsonObject().put("name", prize.name()).put("quantity", prize.quantity())));
    return json;
  }

  private static String commitment(byte[] seed) {
    return HexFormat.of().formatHex(Sha256.of(seed));
  }
}
