package dev.lockstep.server.invariant;

import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Optional;

/** The row with the latest report. Uses the caller's connection. */
final class ReportTable {
  // Of two concurrent reports, the later snapshot wins.
  private static final String KEEP =
      """
      INSERT INTO lockstep_server.invariant_report AS r (one, checked_at, report) VALUES (true, ?, ?)
      ON CONFLICT (one) DO UPDATE SET checked_at = excluded.checked_at, report = excluded.report
      WHERE r.checked_at <= excluded.checked_at""";

  private static final String LATEST = "SELECT report FROM lockstep_server.invariant_report";

  private ReportTable() {}

  static void keep(Connection connection, Instant checkedAt, JsonObject report)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(KEEP)) {
      statement.setObject(1, checkedAt.atOffset(ZoneOffset.UTC));
      statement.setString(2, report.encode());
      statement.executeUpdate();
    }
  }

  static Optional<JsonObject> latest(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(LATEST);
        ResultSet row = statement.executeQuery()) {
      return row.next() ? Optional.of(new JsonObject(row.getString(1))) : Optional.empty();
    }
  }
}
