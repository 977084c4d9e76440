package dev.lockstep.job;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Finds due jobs of a queue that can be claimed.
 *
 * <p>Usually they are among the first due jobs, so those are checked one by one. If the first are
 * claimed or wait in deep lanes, that walk would be long. Then two searches replace it: jobs
 * without a lane, and the head of each lane by the index {@code job_lane}.
 */
final class ClaimableJobs {
  /** Rows checked per shard before switching to the two searches. */
  static final int WALK = 100;

  // The leading expression of the index job_lane.
  private static final String OF_LANE =
      "hashtextextended(%1$s.lane, hashtextextended(%1$s.queue, %1$s.priority))";

  private static final String IN_FLIGHT =
      """
      SELECT CASE WHEN j.lane IS NULL THEN 0 ELSE (
        SELECT count(*) FROM lockstep.job_claim c
        WHERE c.shard = j.shard AND c.queue = j.queue AND c.lane = j.lane) + (
        SELECT count(*) FROM lockstep.job_away a
        WHERE a.shard = j.shard AND a.queue = j.queue AND a.lane = j.lane) END AS in_flight\
      """;

  private static final String OF_STREAM =
      """
      hashtextextended(j.queue, j.priority) = hashtextextended(x.queue, x.priority)
      AND j.queue = x.queue AND j.priority = x.priority AND j.due <= now()\
      """;

  // A job marked as running stays with its worker until that worker is dead.
  private static final String TO_BE_HAD =
      """
      (j.wait_until IS NULL OR j.wait_until <= now()) AND j.keeper IS NULL
      AND NOT EXISTS (
        SELECT 1 FROM lockstep.job_claim c WHERE c.shard = j.shard AND c.id = j.id)\
      """;

  private static final String SHARDS =
      """
      FROM (SELECT ?::int AS shards, ?::text AS queue, ?::smallint AS priority, ?::int AS each) x
      CROSS JOIN LATERAL generate_series(0, x.shards - 1) AS s (shard)\
      """;

  // One index range per shard. A job of an ordered lane must be the first of its lane, even ahead
  // of jobs that wait for a retry. In other lanes the limit decides.
  private static final String AMONG_THE_FIRST =
      """
      SELECT j.id, j.version, j.lane, j.lane_limit, j.in_flight
      %s
      CROSS JOIN LATERAL (
        SELECT j.*, f.in_flight FROM (
          SELECT * FROM lockstep.job j WHERE j.shard = s.shard AND %s
          ORDER BY j.due, j.id LIMIT %d) j
        CROSS JOIN LATERAL (%s) f
        WHERE %s AND (j.lane IS NULL OR f.in_flight < j.lane_limit)
          AND (j.lane_limit IS DISTINCT FROM 1 OR NOT EXISTS (
            SELECT 1 FROM lockstep.job b
            WHERE b.shard = j.shard AND b.lane IS NOT NULL AND %s = %s
              AND b.lane = j.lane AND b.queue = j.queue AND b.priority = j.priority
              AND (b.due, b.id) < (j.due, j.id)))
        ORDER BY j.due, j.id LIMIT x.each) j
      ORDER BY j.due, j.id LIMIT ?\
      """
          .formatted(
              SHARDS,
              OF_STREAM,
              WALK,
              IN_FLIGHT,
              TO_BE_HAD,
              OF_LANE.formatted("b"),
              OF_LANE.formatted("j"));

  private static final String ARE_THERE_MORE =
      """
      SELECT EXISTS (
        SELECT 1 %s
        CROSS JOIN LATERAL (
          SELECT 1 FROM lockstep.job j WHERE j.shard = s.shard AND %s
          ORDER BY j.due, j.id OFFSET %d LIMIT 1) more)\
      """
          .formatted(SHARDS, OF_STREAM, WALK);

  // A loose index scan: one step per lane of the shard, whatever its queue. Reads lane_limit rows
  // per lane: that many may run at a time, so the claimable ones are among them.
  private static final String BEYOND =
      """
      SELECT j.id, j.version, j.lane, j.lane_limit, j.in_flight
      %1$s
      CROSS JOIN LATERAL (
        (SELECT j.id, j.version, j.lane, j.lane_limit, 0 AS in_flight, j.due FROM lockstep.job j
         WHERE j.shard = s.shard AND %2$s AND j.lane IS NULL AND %3$s
         ORDER BY j.due, j.id LIMIT x.each)
        UNION ALL
        (WITH RECURSIVE lane AS (
           (SELECT %5$s AS number FROM lockstep.job j
            WHERE j.shard = s.shard AND j.lane IS NOT NULL ORDER BY 1 LIMIT 1)
           UNION ALL
           SELECT n.number FROM lane l
           CROSS JOIN LATERAL (
             SELECT %5$s AS number FROM lockstep.job j
             WHERE j.shard = s.shard AND j.lane IS NOT NULL AND %5$s > l.number
             ORDER BY 1 LIMIT 1) n)
         SELECT j.id, j.version, j.lane, j.lane_limit, f.in_flight, j.due FROM lane l
         CROSS JOIN LATERAL (
           SELECT j.lane_limit FROM lockstep.job j
           WHERE j.shard = s.shard AND j.lane IS NOT NULL AND %5$s = l.number
           ORDER BY %5$s, j.due, j.id LIMIT 1) h
         CROSS JOIN LATERAL (
           SELECT * FROM lockstep.job j
           WHERE j.shard = s.shard AND j.lane IS NOT NULL AND %5$s = l.number
           ORDER BY %5$s, j.due, j.id LIMIT h.lane_limit) j
         CROSS JOIN LATERAL (%4$s) f
         WHERE j.queue = x.queue AND j.priority = x.priority AND j.due <= now() AND %3$s
           AND f.in_flight < j.lane_limit
         ORDER BY j.due, j.id LIMIT x.each)) j
      ORDER BY j.due, j.id LIMIT ?\
      """
          .formatted(SHARDS, OF_STREAM, TO_BE_HAD, IN_FLIGHT, OF_LANE.formatted("j"));

  private final Connection connection;
  private final String queue;
  private final int shards;

  ClaimableJobs(Connection connection, String queue, int shards) {
    this.connection = connection;
    this.queue = queue;
    this.shards = shards;
  }

  /**
   * A job that can be claimed.
   *
   * @param inFlight how many jobs of its lane are running, not counting others found with it
   */
  record Free(JobId id, int version, @Nullable String lane, int laneLimit, int inFlight) {
    static Free read(ResultSet row) throws SQLException {
      return new Free(
          new JobId(row.getObject(1, UUID.class)),
          row.getInt(2),
          row.getString(3),
          row.getInt(4),
          row.getInt(5));
    }
  }

  /** Reads claimable jobs, roughly in due order; empty if there are none. */
  List<Free> read(Priority priority, int wanted) throws SQLException {
    // Roughly an even share per shard. Order is promised within a lane only.
    int each = Math.min(wanted, Math.max(4, 2 * (wanted / shards + 1)));
    Object[] parameters = {shards, queue, priority.code(), each, wanted};
    RoundTrip first = new RoundTrip(connection);
    Rows<Free> found = first.query(AMONG_THE_FIRST, Free::read, parameters);
    Rows<Boolean> more =
        first.query(ARE_THERE_MORE, row -> row.getBoolean(1), shards, queue, priority.code(), each);
    first.send();
    if (!found.list().isEmpty() || !more.list().get(0)) {
      return found.list();
    }
    RoundTrip second = new RoundTrip(connection);
    Rows<Free> beyond = second.query(BEYOND, Free::read, parameters);
    second.send();
    return beyond.list();
  }
}
