package dev.lockstep.job;

import dev.lockstep.tx.RowPlace;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
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
    Instant due,
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
    RowPlace place) {

  /**
   * Of {@code job j}, in the order {@link #read} expects: all but the queue and the priority. What
   * is as it is with nearly all jobs comes as NULL, since each value costs both sides more than
   * comparing it.
   */
  static final String COLUMNS =
      """
      j.id, j.due, j.kind, j.payload, j.lane, j.lane_limit, j.unique_key,
      nullif(j.max_attempts, %d), nullif(j.attempts, 0), nullif(j.crashes, 0), j.keeper,
      nullif(j.version, 1),
      CASE WHEN j.wait_until > now()
           THEN ceil(extract(epoch FROM j.wait_until - now()) * 1000)::bigint END, %s"""
          .formatted(NewJob.USUAL_MAX_ATTEMPTS, RowPlace.column("j"));

  /** How many columns these are. */
  static final int COLUMN_COUNT = 14;

  /**
   * @param before how many columns come before these
   */
  static JobRow read(ResultSet row, int before, String queue, Priority priority)
      throws SQLException {
    return new JobRow(
        new JobId(row.getObject(before + 1, UUID.class)),
        queue,
        priority,
        // Of all ways to read a time that of a Timestamp is the shortest.
        row.getTimestamp(before + 2).toInstant(),
        row.getString(before + 3),
        row.getString(before + 4),
        row.getString(before + 5),
        row.getInt(before + 6),
        row.getString(before + 7),
        intOr(NewJob.USUAL_MAX_ATTEMPTS, row, before + 8),
        row.getInt(before + 9),
        row.getInt(before + 10),
        row.getObject(before + 11, UUID.class),
        intOr(1, row, before + 12),
        row.getLong(before + 13),
        RowPlace.of(row.getBytes(before + 14)));
  }

  /** Where NULL is read as 0, which these never are. */
  private static int intOr(int usual, ResultSet row, int column) throws SQLException {
    int value = row.getInt(column);
    return value == 0 ? usual : value;
  }

  /** One of a lane that runs one at a time keeps its place while it waits. */
  boolean isOrdered() {
    return lane != null && laneLimit == 1;
  }
}
