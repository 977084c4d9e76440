package dev.lockstep.job;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A live job as its owner read it.
 *
 * @param waitMs how long it still has to wait although it is due; 0 for most
 * @param place where in the table its row was; it may have moved
 */
record JobRow(
    JobId id,
    String queue,
    Priority priority,
    OffsetDateTime due,
    String kind,
    String payload,
    @Nullable String lane,
    int laneLimit,
    @Nullable String uniqueKey,
    int maxAttempts,
    int attempts,
    int crashes,
    @Nullable UUID keeper,
    int version,
    long waitMs,
    String place) {

  /** Of {@code job j}, in the order {@link #read} expects: all but the queue and the priority. */
  static final String COLUMNS =
      """
      j.id, j.due, j.kind, j.payload, j.lane, j.lane_limit,
      j.unique_key, j.max_attempts, j.attempts, j.crashes, j.keeper, j.version,
      CASE WHEN j.wait_until > now()
           THEN ceil(extract(epoch FROM j.wait_until - now()) * 1000)::bigint ELSE 0 END, j.ctid""";

  /**
   * @param before how many columns come before these
   */
  static JobRow read(ResultSet row, int before, String queue, Priority priority)
      throws SQLException {
    return new JobRow(
        new JobId(row.getObject(before + 1, UUID.class)),
        queue,
        priority,
        row.getObject(before + 2, OffsetDateTime.class),
        row.getString(before + 3),
        row.getString(before + 4),
        row.getString(before + 5),
        row.getInt(before + 6),
        row.getString(before + 7),
        row.getInt(before + 8),
        row.getInt(before + 9),
        row.getInt(before + 10),
        row.getObject(before + 11, UUID.class),
        row.getInt(before + 12),
        row.getLong(before + 13),
        row.getString(before + 14));
  }

  /** One of a lane that runs one at a time keeps its place while it waits. */
  boolean isOrdered() {
    return lane != null && laneLimit == 1;
  }
}
