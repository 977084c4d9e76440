package dev.lockstep.job;

import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.List;

/** History's partitions, and keys whose period has passed. */
final class Housekeeping {
  private static final DateTimeFormatter DAY = DateTimeFormatter.BASIC_ISO_DATE;
  private static final String PREFIX = "job_history_";
  // Made ahead: a worker that cannot write history cannot complete a job.
  private static final int DAYS_AHEAD = 3;
  private static final int REMOVAL_BATCH = 1_000;

  private static final String TODAY = "SELECT (now() AT TIME ZONE 'UTC')::date";
  private static final String PARTITIONS =
      """
      SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = 'lockstep.job_history'::regclass""";

  private static final String REMOVE_KEYS =
      """
      WITH due AS MATERIALIZED (
        SELECT shard, queue, unique_key FROM lockstep.job_unique WHERE expires_at <= now()
        ORDER BY expires_at LIMIT ? FOR UPDATE SKIP LOCKED)
      DELETE FROM lockstep.job_unique u USING due d
      WHERE u.shard = d.shard AND u.queue = d.queue AND u.unique_key = d.unique_key""";

  // Those of live and dead jobs stay with them, however old.
  private static final String REMOVE_ATTEMPTS =
      """
      WITH old AS MATERIALIZED (
        SELECT a.shard, a.id, a.attempt FROM lockstep.job_attempt a
        WHERE a.at < now() - ? * interval '1 day'
          AND NOT EXISTS (SELECT 1 FROM lockstep.job j WHERE j.shard = a.shard AND j.id = a.id)
          AND NOT EXISTS (SELECT 1 FROM lockstep.job_dead d WHERE d.shard = a.shard AND d.id = a.id)
        LIMIT ? FOR UPDATE SKIP LOCKED)
      DELETE FROM lockstep.job_attempt a USING old o
      WHERE a.shard = o.shard AND a.id = o.id AND a.attempt = o.attempt""";

  private Housekeeping() {}

  /** Makes the partitions of the days to come and drops those that are too old. */
  static void partitions(Connection connection, int keepDays) throws SQLException {
    RoundTrip read = new RoundTrip(connection);
    Rows<LocalDate> today = read.query(TODAY, row -> row.getObject(1, LocalDate.class));
    Rows<String> names = read.query(PARTITIONS, row -> row.getString(1));
    read.send();
    LocalDate now = today.list().get(0);
    RoundTrip write = new RoundTrip(connection);
    if (keepDays > 0) {
      for (int i = 0; i <= DAYS_AHEAD; i++) {
        create(write, now.plusDays(i), names.list());
      }
    }
    for (String name : names.list()) {
      // The names are our own, made of digits: nothing of anybody's gets into a statement.
      LocalDate day = LocalDate.parse(name.substring(PREFIX.length()), DAY);
      if (day.isBefore(now.minusDays(keepDays))) {
        write.update("DROP TABLE lockstep." + name);
      }
    }
    write.send();
  }

  private static void create(RoundTrip trip, LocalDate day, List<String> existing) {
    String name = PREFIX + DAY.format(day);
    if (!existing.contains(name)) {
      trip.update(
          """
          CREATE TABLE IF NOT EXISTS lockstep.%s PARTITION OF lockstep.job_history
          FOR VALUES FROM ('%s 00:00:00+00') TO ('%s 00:00:00+00')"""
              .formatted(name, day, day.plusDays(1)));
      // Rows come by time, so this costs a page a day: for how much was done lately.
      trip.update(
          "CREATE INDEX IF NOT EXISTS %1$s_finished ON lockstep.%1$s USING brin (finished_at)"
              .formatted(name));
    }
  }

  /** Removes some keys whose period has passed; how many. */
  static int removeKeys(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Object> rows = trip.update(REMOVE_KEYS, REMOVAL_BATCH);
    trip.send();
    return rows.changed();
  }

  /** Removes some attempts of jobs that are no longer in history; how many. */
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
