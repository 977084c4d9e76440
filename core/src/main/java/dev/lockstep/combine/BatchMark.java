package dev.lockstep.combine;

import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.UUID;

/**
 * A small row that proves a batch committed, for batches that write no other row of their own. It
 * travels with the batch's last statements and costs no round trip.
 *
 * <p>Only the node that wrote it asks for it, while its callers wait. Each batch that leaves a mark
 * deletes a few old ones of the same scope, so the table stays small.
 *
 * @param scope the shard key
 * @param at the database's clock, as the batch knows it
 * @param id of the batch
 */
record BatchMark(long scope, Instant at, UUID id) {
  /** No caller waits this long for an answer, not even across a server restart. */
  private static final Duration KEPT = Duration.ofHours(1);

  /** More than one, or a backlog would never shrink. */
  private static final int TAKEN_AWAY = 4;

  private static final String LEAVE =
      "INSERT INTO lockstep.batch_mark (scope, at, id) VALUES (?, ?, ?)";

  // Locks old marks and skips those another batch is deleting, so that no batch waits here.
  private static final String TAKE_AWAY =
      """
      DELETE FROM lockstep.batch_mark m USING (
        SELECT at, id FROM lockstep.batch_mark WHERE scope = ? AND at < ?
        ORDER BY at, id LIMIT ? FOR UPDATE SKIP LOCKED) AS old
      WHERE m.scope = ? AND m.at = old.at AND m.id = old.id""";

  private static final String FIND =
      "SELECT 1 FROM lockstep.batch_mark WHERE scope = ? AND at = ? AND id = ?";

  static BatchMark of(Trace.Mark trace) {
    return new BatchMark(trace.scope(), trace.now(), UUID.randomUUID());
  }

  void leave(Exchange exchange) throws SQLException {
    RoundTrip trip = exchange.trip();
    trip.update(LEAVE, scope, time(at), id);
    trip.update(TAKE_AWAY, scope, time(at.minus(KEPT)), TAKEN_AWAY, scope);
    exchange.defer(trip);
  }

  boolean isIn(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Boolean> found = trip.query(FIND, row -> true, scope, time(at), id);
    trip.send();
    return !found.list().isEmpty();
  }

  private static OffsetDateTime time(Instant instant) {
    return instant.atOffset(ZoneOffset.UTC);
  }
}
