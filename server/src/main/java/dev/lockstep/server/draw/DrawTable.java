package dev.lockstep.server.draw;

import dev.lockstep.server.draw.Ranking.Winner;
import io.vertx.core.json.JsonArray;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The tables of draws. Uses the caller's connection. */
final class DrawTable {
  // Locks the campaign's gate row, creating it if needed; a conflicting uncommitted insert is
  // waited for. Taken after the pools, last of all locks, and held until commit: the next
  // transaction to enter sees what this one sold.
  private static final String ENTER_GATE =
      """
      INSERT INTO lockstep_server.draw_gate AS g (campaign) VALUES (?)
      ON CONFLICT (campaign) DO UPDATE SET campaign = g.campaign""";

  // The primary key decides: the first draw is the only one.
  private static final String FREEZE =
      """
      INSERT INTO lockstep_server.draw (campaign, algorithm, frozen_at, entrants, entrants_hash)
      VALUES (?, ?, ?, ?, ?) ON CONFLICT (campaign) DO NOTHING""";

  // Locks only the draw. If two nodes bring the beacon's value, the second waits and then changes
  // nothing.
  private static final String COMPLETE =
      """
      UPDATE lockstep_server.draw SET beacon = ?, winners = ?::jsonb, drawn_at = ?
      WHERE campaign = ? AND drawn_at IS NULL""";

  private static final String READ =
      """
      SELECT frozen_at, entrants, entrants_hash, beacon, winners, drawn_at
      FROM lockstep_server.draw WHERE campaign = ?""";

  private static final String EXISTS = "SELECT 1 FROM lockstep_server.draw WHERE campaign = ?";

  private static final String WAITING =
      """
      SELECT campaign, frozen_at FROM lockstep_server.draw
      WHERE drawn_at IS NULL ORDER BY frozen_at LIMIT 100""";

  private DrawTable() {}

  /** What is known of a draw, hash and beacon in hexadecimal; winners once it is complete. */
  record Row(
      Instant frozenAt,
      EntrantList entrants,
      String entrantsHash,
      Optional<String> beacon,
      Optional<JsonArray> winners,
      Optional<Instant> drawnAt) {}

  /** A frozen list whose winners are not ranked yet. */
  record Waiting(long campaign, Instant frozenAt) {}

  static void enterGate(Connection connection, long campaign) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(ENTER_GATE)) {
      statement.setLong(1, campaign);
      statement.executeUpdate();
    }
  }

  /** False if the campaign already has a draw. */
  static boolean freeze(Connection connection, long campaign, EntrantList entrants, Instant at)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(FREEZE)) {
      statement.setLong(1, campaign);
      statement.setString(2, Ranking.ALGORITHM);
      statement.setObject(3, at.atOffset(ZoneOffset.UTC));
      statement.setString(4, entrants.canonical());
      statement.setBytes(5, entrants.hash());
      return statement.executeUpdate() == 1;
    }
  }

  /** False if it was completed before. */
  static boolean complete(
      Connection connection,
      long campaign,
      Optional<byte[]> beacon,
      List<Winner> winners,
      Instant at)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(COMPLETE)) {
      statement.setBytes(1, beacon.orElse(null));
      statement.setString(2, DrawView.winners(winners).encode());
      statement.setObject(3, at.atOffset(ZoneOffset.UTC));
      statement.setLong(4, campaign);
      return statement.executeUpdate() == 1;
    }
  }

  static Optional<Row> find(Connection connection, long campaign) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(READ)) {
      statement.setLong(1, campaign);
      try (ResultSet row = statement.executeQuery()) {
        return row.next() ? Optional.of(read(row)) : Optional.empty();
      }
    }
  }

  static boolean exists(Connection connection, long campaign) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(EXISTS)) {
      statement.setLong(1, campaign);
      try (ResultSet row = statement.executeQuery()) {
        return row.next();
      }
    }
  }

  static List<Waiting> waiting(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(WAITING);
        ResultSet row = statement.executeQuery()) {
      List<Waiting> waiting = new ArrayList<>();
      while (row.next()) {
        waiting.add(new Waiting(row.getLong(1), time(row.getObject(2, OffsetDateTime.class))));
      }
      return waiting;
    }
  }

  private static Row read(ResultSet row) throws SQLException {
    String winners = row.getString("winners");
    @Nullable OffsetDateTime drawnAt = row.getObject("drawn_at", OffsetDateTime.class);
    return new Row(
        time(row.getObject("frozen_at", OffsetDateTime.class)),
        EntrantList.parse(row.getString("entrants")),
        HexFormat.of().formatHex(row.getBytes("entrants_hash")),
        Optional.ofNullable(row.getBytes("beacon")).map(HexFormat.of()::formatHex),
        Optional.ofNullable(winners).map(JsonArray::new),
        Optional.ofNullable(drawnAt).map(DrawTable::time));
  }

  private static Instant time(OffsetDateTime time) {
    return time.toInstant();
  }
}
