package dev.lockstep.job;

import dev.lockstep.sql.Ctid;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A live job as its shard's owner read it.
 *
 * @param due when it is to run next
 * @param planned when it was first to run, which no retry moves
 * @param waitMs how long it must still wait although due; 0 for most
 * @param place where its row was in the table; it may have moved
 */
record JobRow(
    JobId id,
    String queue,
    Priority priority,
    Instant due,
    Instant planned,
    String kind,
    String payload,
    @Nullable String lane,
    int laneLimit,
    @Nullable String uniqueKey,
    int maxAttempts,
    int attempts,
    int crashes,
    @Nullable UUID markedBy,
    int version,
    long waitMs,
    Ctid place) {

  /**
   * Columns of {@code job j} in the order {@link #read} expects; queue and priority come
   * separately. Usual values are sent as NULL: comparing costs less than sending and parsing.
   */
  static final String COLUMNS =
      """
      j.id, j.due, j.kind, j.payload, j.lane, j.lane_limit, j.unique_key,
      nullif(j.max_attempts, %d), nullif(j.attempts, 0), nullif(j.crashes, 0), j.keeper,
      nullif(j.version, 1),
      CASE WHEN j.wait_until > now()
           THEN ceil(extract(epoch FROM j.wait_until - now()) * 1000)::bigint END, %s, j.planned"""
          .formatted(NewJob.USUAL_MAX_ATTEMPTS, Ctid.column("j"));

  /** The number of columns. */
  static final int COLUMN_COUNT = 15;

  /**
   * @param before how many columns come before these
   */
  static JobRow read(ResultSet row, int before, String queue, Priority priority)
      throws SQLException {
    // The driver's fastest way to read a time.
    Instant due = row.getTimestamp(before + 2).toInstant();
    Timestamp planned = row.getTimestamp(before + 15);
    return new JobRow(
        new JobId(row.getObject(before + 1, UUID.class)),
        queue,
        priority,
        due,
        planned == null ? due : planned.toInstant(),
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
        Ctid.of(row.getBytes(before + 14)));
  }

  /** The column is never 0, so 0 means NULL. */
  private static int intOr(int usual, ResultSet row, int column) throws SQLException {
    int value = row.getInt(column);
    return value == 0 ? usual : value;
  }

  /** Whether the lane is ordered: the job keeps its place while it waits. */
  boolean isOrdered() {
    return lane != null && laneLimit == 1;
  }
}
