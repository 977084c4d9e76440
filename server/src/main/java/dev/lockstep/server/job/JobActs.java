package dev.lockstep.server.job;

import dev.lockstep.server.act.Act;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;

/** What was done to jobs, queues and schedules; on the caller's connection, who commits. */
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

  /** An act as it was kept. */
  record Kept(long id, Instant at, Act act, int affected) {}

  /**
   * Keeps an act, in the transaction that does it.
   *
   * @param affected how many jobs it changed
   */
  public static void record(Connection connection, Act act, int affected) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(
        INSERT, act.action(), act.subject(), act.actor(), act.reason().orElse(""), affected);
    trip.send();
  }

  /** The newest first. */
  static List<Kept> page(Connection connection, long before, int limit) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Kept> rows = trip.query(PAGE, JobActs::read, before, limit);
    trip.send();
    return rows.list();
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
