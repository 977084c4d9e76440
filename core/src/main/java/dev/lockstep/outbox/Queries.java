package dev.lockstep.outbox;

import dev.lockstep.sql.BoundedRows;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;

/** Answers operators' and metrics' queries. */
final class Queries {
  private static final String EVENTS =
      """
      SELECT 0 AS ask, e.id, e.ord::text, e.key, e.seq, e.type, e.content_type, e.headers, e.data,
        e.appended_at
      FROM lockstep.outbox_event e
      WHERE e.part = ? AND e.stream = ? AND e.key = ? AND e.seq > ?
      ORDER BY e.seq LIMIT ?""";

  private static final String FEW_EVENTS = BoundedRows.sql(EVENTS, "octet_length(r.data)", "r.seq");

  // Counts from each cursor by index, as the relay reads, up to a limit. A waiting key without a
  // failed attempt counts as flowing: its events are behind, not held back.
  private static final String LAGS =
      """
      SELECT s.name AS stream, k.name AS sink,
        COALESCE(sum(w.events + p.behind), 0)::bigint AS behind,
        LEAST(min(w.oldest), min(p.oldest)) AS oldest,
        GREATEST(0, EXTRACT(epoch FROM
          clock_timestamp() - LEAST(min(w.oldest), min(p.oldest))) * 1000)::bigint AS behind_ms,
        COALESCE(sum(p.parked), 0)::int AS parked, COALESCE(sum(p.waiting), 0)::int AS waiting,
        COALESCE(sum(p.held_back), 0)::bigint AS held_back,
        COALESCE(sum(c.delivered), 0)::bigint AS delivered
      FROM lockstep.outbox_sink k
        JOIN lockstep.outbox_stream s ON s.id = k.stream
        JOIN lockstep.outbox_cursor c ON c.sink = k.id
        CROSS JOIN LATERAL (
          SELECT %s AS start) b
        CROSS JOIN LATERAL (
          SELECT count(*) AS events, min(r.appended_at) AS oldest
          FROM (SELECT e.appended_at FROM lockstep.outbox_event e
                WHERE e.part = c.part AND e.stream = k.stream AND e.ord >= b.start
                  AND NOT %s
                  AND NOT EXISTS (SELECT 1 FROM lockstep.outbox_parked p
                                  WHERE p.part = c.part AND p.sink = k.id AND p.key = e.key)
                ORDER BY e.ord, e.id LIMIT ?) r) w
        CROSS JOIN LATERAL (
          SELECT count(*) FILTER (WHERE p.retry_at IS NULL) AS parked,
            count(*) FILTER (WHERE p.retry_at IS NOT NULL AND p.attempts > 0) AS waiting,
            sum(o.seq - p.seq + 1) FILTER (WHERE p.retry_at IS NULL OR p.attempts > 0)
              AS held_back,
            COALESCE(sum(o.seq - p.seq + 1)
              FILTER (WHERE p.retry_at IS NOT NULL AND p.attempts = 0), 0) AS behind,
            min((SELECT e.appended_at FROM lockstep.outbox_event e
                 WHERE e.part = p.part AND e.stream = k.stream AND e.key = p.key
                   AND e.seq >= p.seq AND e.ord >= p.ord ORDER BY e.seq LIMIT 1))
              FILTER (WHERE p.retry_at IS NOT NULL AND p.attempts = 0) AS oldest
          FROM lockstep.outbox_parked p
            JOIN lockstep.outbox_key o
              ON o.part = p.part AND o.stream = k.stream AND o.key = p.key
          WHERE p.part = c.part AND p.sink = k.id) p
      %%s
      GROUP BY s.name, k.name ORDER BY s.name, k.name"""
          .formatted(CursorPosition.start("pg_current_snapshot()"), CursorPosition.PASSED);
  private static final String ALL_LAGS = LAGS.formatted("");
  private static final String LAGS_OF = LAGS.formatted("WHERE s.name = ?");

  private static final String PARKED =
      """
      SELECT p.key, p.seq, p.attempts, p.error, p.parked_at, p.retry_at
      FROM lockstep.outbox_parked p WHERE p.sink = ? AND p.key > ? ORDER BY p.key LIMIT ?""";

  private Queries() {}

  static List<Event> events(
      Connection connection,
      int stream,
      PartitionedKey where,
      long afterSeq,
      int limit,
      long maxBytes)
      throws SQLException {
    return RoundTrip.list(
        connection,
        FEW_EVENTS,
        row -> SnapshotSource.event(row, where.stream()),
        where.part(),
        stream,
        where.key(),
        afterSeq,
        limit,
        maxBytes);
  }

  /** A key and its partition. */
  record PartitionedKey(String stream, String key, short part) {}

  static List<SinkLag> lags(Connection connection, Optional<String> stream, int max)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<SinkLag> lags =
        stream.isPresent()
            ? trip.query(LAGS_OF, Queries::lag, max, stream.get())
            : trip.query(ALL_LAGS, Queries::lag, max);
    trip.send();
    return lags.list();
  }

  private static SinkLag lag(ResultSet row) throws SQLException {
    return new SinkLag(
        row.getString("stream"),
        row.getString("sink"),
        row.getLong("behind"),
        Duration.ofMillis(row.getLong("behind_ms")),
        Optional.ofNullable(row.getObject("oldest", OffsetDateTime.class))
            .map(OffsetDateTime::toInstant),
        row.getInt("parked"),
        row.getInt("waiting"),
        row.getLong("held_back"),
        row.getLong("delivered"));
  }

  static List<ParkedKey> parked(Connection connection, int sink, Optional<String> after, int limit)
      throws SQLException {
    return RoundTrip.list(
        connection,
        PARKED,
        row ->
            new ParkedKey(
                row.getString("key"),
                row.getLong("seq"),
                row.getInt("attempts"),
                row.getString("error"),
                row.getObject("parked_at", OffsetDateTime.class).toInstant(),
                Optional.ofNullable(row.getObject("retry_at", OffsetDateTime.class))
                    .map(OffsetDateTime::toInstant)),
        sink,
        after.orElse(""),
        limit);
  }
}
