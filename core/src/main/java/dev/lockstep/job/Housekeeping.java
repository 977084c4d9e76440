package dev.lockstep.job;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * Removes unique keys whose period has passed, and attempts of jobs that are no longer in history.
 */
final class Housekeeping {
  private static final int REMOVAL_BATCH = 1_000;

  private static final String REMOVE_KEYS =
      """
      WITH due AS MATERIALIZED (
        SELECT shard, queue, unique_key FROM lockstep.job_unique WHERE expires_at <= now()
        ORDER BY expires_at LIMIT ? FOR UPDATE SKIP LOCKED)
      DELETE FROM lockstep.job_unique u USING due d
      WHERE u.shard = d.shard AND u.queue = d.queue AND u.unique_key = d.unique_key""";

  // Attempts of live and dead jobs, and of jobs in history, stay, however old.
  private static final String REMOVE_ATTEMPTS =
      """
      WITH old AS MATERIALIZED (
        SELECT a.shard, a.id, a.attempt FROM lockstep.job_attempt a
        WHERE a.at < now() - ? * interval '1 day'
          AND NOT EXISTS (SELECT 1 FROM lockstep.job j WHERE j.shard = a.shard AND j.id = a.id)
          AND NOT EXISTS (SELECT 1 FROM lockstep.job_dead d WHERE d.shard = a.shard AND d.id = a.id)
          AND NOT EXISTS (SELECT 1 FROM lockstep.job_history h WHERE h.shard = a.shard AND h.id = a.id)
        LIMIT ? FOR UPDATE SKIP LOCKED)
      DELETE FROM lockstep.job_attempt a USING old o
      WHERE a.shard = o.shard AND a.id = o.id AND a.attempt = o.attempt""";

  private Housekeeping() {}

  /** Removes one batch of expired unique keys; returns how many. */
  static int removeKeys(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Object> rows = trip.update(REMOVE_KEYS, REMOVAL_BATCH);
    trip.send();
    return rows.changed();
  }

  /** Removes one batch of attempts without a job; returns how many. */
  static int removeAttempts(Connection connection, int keepDays) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Object> rows = trip.update(REMOVE_ATTEMPTS, keepDays + 1, REMOVAL_BATCH);
    trip.send();
    return rows.changed();
  }

  static int removalBatch() {
    return REMOVAL_BATCH;
  }
}
