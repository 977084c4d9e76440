package dev.lockstep.server.job;

import dev.lockstep.server.act.Act;
import dev.lockstep.sql.RoundTrip;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;

/** Actions on jobs, queues and schedules. Uses the caller's connection; the caller commits. */
public final class JobActs {
  private static final String INSERT =
      """
      INSERT INTO lockstep_server.job_action (action, subject, actor, reason, affected)
      VALUES (?, ?, ?, nullif(?, ''), ?)""";

  private static final String PAGE =
      """
      SELECT id, at, action, subject, actor, reason, affected FROM lockstep_server.job_action
      WHERE id < ? ORDER BY id DESC LIMIT ?""";

  private JobActs() {}

  /** An action as recorded. */
  record Kept(long id, Instant at, Act act, int affected) {}

  /**
   * Records an action in the transaction that performs it.
   *
   * @param affected how many jobs it changed
   */
  public static void record(Connection connection, Act act, int affected) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(
        INSERT, act.action(), act.subject(), act.actor(), act.reason().orElse(""), affected);
    trip.send();
  }

  /** Newest first. */
  static List<Kept> page(Connection connection, long before, int limit) throws SQLException {
    return RoundTrip.list(connection, PAGE, JobActs::read, before, limit);
  }

  private static Kept read(ResultSet row) throws SQLException {
    return new Kept(
        row.getLong("id"),
        row.getObject("at", OffsetDateTime.class).toInstant(),
        new Act(
            row.getString("action"),
            row.getString("subject"),
            row.getString("actor"),
            Optional.ofNullable(row.getString("reason"))),
        row.getInt("affected"));
  }
}
