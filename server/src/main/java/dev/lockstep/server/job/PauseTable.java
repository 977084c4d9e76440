package dev.lockstep.server.job;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Why queues are paused; on the caller's connection, who commits. */
final class PauseTable {
  private static final String SET =
      """
      INSERT INTO lockstep_server.queue_pause (queue, reason, paused_by) VALUES (?, nullif(?, ''), ?)
      ON CONFLICT (queue) DO UPDATE
      SET reason = excluded.reason, paused_by = excluded.paused_by, paused_at = excluded.paused_at""";
  private static final String REMOVE = "DELETE FROM lockstep_server.queue_pause WHERE queue = ?";
  private static final String ALL =
      "SELECT queue, reason, paused_by, paused_at FROM lockstep_server.queue_pause";

  private PauseTable() {}

  record Pause(String queue, Optional<String> reason, String by, Instant at) {}

  static void set(Connection connection, String queue, Optional<String> reason, String by)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(SET, queue, reason.orElse(""), by);
    trip.send();
  }

  static void remove(Connection connection, String queue) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(REMOVE, queue);
    trip.send();
  }

  static Map<String, Pause> all(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Pause> rows =
        trip.query(
            ALL,
            row ->
                new Pause(
                    row.getString("queue"),
                    Optional.ofNullable(row.getString("reason")),
                    row.getString("paused_by"),
                    row.getObject("paused_at", OffsetDateTime.class).toInstant()));
    trip.send();
    return rows.list().stream().collect(Collectors.toMap(Pause::queue, pause -> pause));
  }
}
