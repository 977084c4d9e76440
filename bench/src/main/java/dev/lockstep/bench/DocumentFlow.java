package dev.lockstep.bench;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The flow the triangle-lottery document calls optimal: count the buyer's purchases, take a random
 * free position with SKIP LOCKED, mark it, insert the purchase, increment the campaign.
 *
 * <p>Campaigns of 1,275 positions (a base of 50) are sold one after the other, so that the random
 * sort never meets more rows than in the document's own case.
 */
final class DocumentFlow {
  private static final int POSITIONS = 1_275;

  private final BenchDatabase database;
  private final String isolation;
  private final AtomicInteger campaign;
  private final int firstCampaign;
  private final int lastCampaign;

  private DocumentFlow(BenchDatabase database, String isolation, int firstCampaign, int campaigns) {
    this.database = database;
    this.isolation = isolation;
    this.firstCampaign = firstCampaign;
    this.campaign = new AtomicInteger(firstCampaign);
    this.lastCampaign = firstCampaign + campaigns - 1;
  }

  static void createTables(BenchDatabase database) throws SQLException {
    database.execute(
        """
        CREATE SCHEMA document;
        CREATE TABLE document.campaigns (
          campaign_id int PRIMARY KEY, positions_total int NOT NULL,
          positions_sold int NOT NULL DEFAULT 0, purchase_limit int,
          CHECK (positions_sold <= positions_total));
        CREATE TABLE document.positions (
          position_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
          campaign_id int NOT NULL REFERENCES document.campaigns,
          status varchar(20) NOT NULL, price int NOT NULL, user_id text, reserved_at timestamptz);
        CREATE INDEX ON document.positions (campaign_id, status) WHERE status = 'available';
        CREATE TABLE document.purchases (
          purchase_id uuid PRIMARY KEY, user_id text NOT NULL,
          campaign_id int NOT NULL REFERENCES document.campaigns,
          position_id uuid NOT NULL REFERENCES document.positions,
          price int NOT NULL, status varchar(20) NOT NULL, request_id text NOT NULL UNIQUE,
          created_at timestamptz NOT NULL);
        CREATE INDEX ON document.purchases (campaign_id, user_id);
        """);
  }

  static DocumentFlow create(
      BenchDatabase database, String isolation, int firstCampaign, int campaigns)
      throws SQLException {
    database.execute(
        """
        INSERT INTO document.campaigns (campaign_id, positions_total, purchase_limit)
          SELECT c, %1$d, 5 FROM generate_series(%2$d, %3$d) c;
        INSERT INTO document.positions (campaign_id, status, price)
          SELECT c, 'available', 500 FROM generate_series(%2$d, %3$d) c, generate_series(1, %1$d);
        ANALYZE document.positions
        """
            .formatted(POSITIONS, firstCampaign, firstCampaign + campaigns - 1));
    return new DocumentFlow(database, isolation, firstCampaign, campaigns);
  }

  long purchases() throws SQLException {
    return database.number(
        "SELECT count(*) FROM document.purchases WHERE campaign_id BETWEEN %d AND %d"
            .formatted(firstCampaign, lastCampaign));
  }

  /** Tries until it has bought a position, as a client has to. */
  void buy(String buyer, String key) throws SQLException {
    while (true) {
      int current = campaign.get();
      try (Connection connection = database.pool().getConnection()) {
        connection.setAutoCommit(false);
        if (tryBuy(connection, current, buyer, key)) {
          connection.commit();
          return;
        }
        connection.rollback();
      } catch (SQLException e) {
        if (!"40001".equals(e.getSQLState())) {
          throw e;
        }
        continue;
      }
      if (current == lastCampaign) {
        throw new IllegalStateException("All campaigns of the benchmark are sold out");
      }
      campaign.compareAndSet(current, current + 1);
    }
  }

  private boolean tryBuy(Connection connection, int campaignId, String buyer, String key)
      throws SQLException {
    Sql.run(connection, "SET TRANSACTION ISOLATION LEVEL " + isolation);
    Sql.run(connection, "SET LOCAL lock_timeout = 3000");
    Sql.run(
        connection,
        """
        SELECT count(*) FROM document.purchases
        WHERE campaign_id = ? AND user_id = ? AND status IN ('pending', 'completed')""",
        campaignId,
        buyer);
    Sql.run(
        connection,
        "SELECT purchase_limit FROM document.campaigns WHERE campaign_id = ?",
        campaignId);
    UUID position = randomFree(connection, campaignId);
    if (position == null) {
      return false;
    }
    Sql.run(
        connection,
        """
        UPDATE document.positions SET status = 'reserved', user_id = ?, reserved_at = now()
        WHERE position_id = ?""",
        buyer,
        position);
    Sql.run(
        connection,
        """
        INSERT INTO document.purchases
        VALUES (gen_random_uuid(), ?, ?, ?, 500, 'pending', ?, now())""",
        buyer,
        campaignId,
        position,
        key);
    Sql.run(
        connection,
        "UPDATE document.campaigns SET positions_sold = positions_sold + 1 WHERE campaign_id = ?",
        campaignId);
    return true;
  }

  private static @Nullable UUID randomFree(Connection connection, int campaignId)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT position_id FROM document.positions
            WHERE campaign_id = ? AND status = 'available'
            ORDER BY random() LIMIT 1 FOR UPDATE SKIP LOCKED""")) {
      statement.setInt(1, campaignId);
      try (ResultSet row = statement.executeQuery()) {
        return row.next() ? row.getObject(1, UUID.class) : null;
      }
    }
  }
}
