package dev.lockstep.outbox;

import dev.lockstep.fault.LockTimeout;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.tx.AdvisoryLocks;
import dev.lockstep.tx.Isolation;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Maintains the segments of the event table: ranges of {@code ord}, and so of transactions. They
 * are made ahead. They are emptied and dropped after the retention, once every sink is past them
 * and no blocked key needs them. A sink's cursor, not a clock, decides what it is past.
 */
final class Segments {
  private static final Logger log = LoggerFactory.getLogger(Segments.class);
  private static final String LOCK = "lockstep outbox segments";
  private static final String ACTOR = "lockstep";

  static final long FIRST_WIDTH = 1 << 18;
  private static final long MIN_WIDTH = 1 << 16;
  private static final long MAX_WIDTH = 1 << 26;
  private static final Duration SHORT_LIFE = Duration.ofMinutes(10);
  private static final Duration LONG_LIFE = Duration.ofHours(4);
  private static final int REST_BATCH = 10_000;

  // Time to count the events that a sink loses, in a segment of any size. With too little, no
  // segment would ever be freed again.
  private static final Duration LONGEST_STEP = Duration.ofMinutes(30);

  private static final String NEXT = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint";
  private static final String CLOSE =
      """
      UPDATE lockstep.outbox_segment SET closed_at = now()
      WHERE closed_at IS NULL AND to_ord <= pg_snapshot_xmin(pg_current_snapshot())""";
  private static final String LAST =
      """
      SELECT segment, from_ord::text::bigint, to_ord::text::bigint
      FROM lockstep.outbox_segment ORDER BY segment DESC LIMIT 1""";
  private static final String LAST_CLOSED =
      """
      SELECT closed_at FROM lockstep.outbox_segment
      WHERE closed_at IS NOT NULL AND segment > 0 ORDER BY segment DESC LIMIT 2""";
  private static final String INSERT =
      """
      INSERT INTO lockstep.outbox_segment (segment, from_ord, to_ord, made_at)
      VALUES (?, ?::text::xid8, ?::text::xid8, now())""";

  // A cursor is past a segment when it has seen every transaction of the segment.
  private static final String PASSED =
      """
      SELECT s.segment FROM lockstep.outbox_segment s
      WHERE s.emptied_at IS NULL AND s.closed_at <= now() - ? * interval '1 millisecond'
        AND NOT EXISTS (
          SELECT 1 FROM lockstep.outbox_cursor c JOIN lockstep.outbox_sink k ON k.id = c.sink
          WHERE pg_snapshot_xmin(c.done) < s.to_ord
            AND (k.give_up_after IS NULL OR s.closed_at > now() - k.give_up_after))
        AND NOT EXISTS (
          SELECT 1 FROM lockstep.outbox_parked p JOIN lockstep.outbox_sink k ON k.id = p.sink
          WHERE p.ord < s.to_ord
            AND (k.give_up_after IS NULL OR s.closed_at > now() - k.give_up_after))
      ORDER BY s.segment LIMIT 1""";
  private static final String GIVEN_UP =
      """
      INSERT INTO lockstep.outbox_audit (actor, action, stream, sink, reason)
      SELECT ?, 'give-up', s.name, k.name,
        count(*) || ' events were not delivered within ' || k.give_up_after
      FROM lockstep.outbox_sink k
        JOIN lockstep.outbox_stream s ON s.id = k.stream
        JOIN lockstep.outbox_cursor c ON c.sink = k.id
        JOIN lockstep.%%s e ON e.part = c.part AND e.stream = k.stream
        LEFT JOIN lockstep.outbox_parked p
          ON p.part = c.part AND p.sink = k.id AND p.key = e.key AND p.seq <= e.seq
      WHERE k.give_up_after IS NOT NULL
        AND (p.key IS NOT NULL OR NOT %s)
        -- Only sinks that are not past the segment: usually none, and then no event is read.
        AND k.id = ANY (ARRAY(
          SELECT b.sink FROM lockstep.outbox_cursor b, lockstep.outbox_segment s
          WHERE s.segment = ? AND pg_snapshot_xmin(b.done) < s.to_ord
          UNION SELECT b.sink FROM lockstep.outbox_parked b, lockstep.outbox_segment s
          WHERE s.segment = ? AND b.ord < s.to_ord))
      GROUP BY s.name, k.name, k.give_up_after"""
          .formatted(CursorPosition.PASSED);
  private static final String MARK_EMPTIED =
      "UPDATE lockstep.outbox_segment SET emptied_at = now() WHERE segment = ?";
  private static final String EMPTIED =
      "SELECT segment FROM lockstep.outbox_segment WHERE emptied_at IS NOT NULL ORDER BY segment";
  private static final String FORGET = "DELETE FROM lockstep.outbox_segment WHERE segment = ?";

  // Rows outside all segments: freed like segments, except that give_up_after does not apply. A
  // key's events go oldest first, or a replay would find a gap: an older segment is emptied first,
  // and a batch takes rows in the order of the primary key.
  private static final String CLEAR_REST =
      """
      DELETE FROM lockstep.outbox_event_rest r
      USING (SELECT part, stream, ord, id FROM lockstep.outbox_event_rest
             WHERE appended_at <= now() - ? * interval '1 millisecond'
               AND ord < (SELECT h.x FROM (
                   SELECT pg_snapshot_xmin(c.done) AS x
                   FROM lockstep.outbox_cursor c JOIN lockstep.outbox_sink k ON k.id = c.sink
                   UNION ALL
                   SELECT p.ord
                   FROM lockstep.outbox_parked p JOIN lockstep.outbox_sink k ON k.id = p.sink
                   UNION ALL
                   SELECT s.to_ord FROM lockstep.outbox_segment s WHERE s.emptied_at IS NULL
                   UNION ALL
                   SELECT pg_snapshot_xmin(pg_current_snapshot())) h ORDER BY h.x LIMIT 1)
             ORDER BY part, stream, ord, id LIMIT ?) x
      WHERE r.part = x.part AND r.stream = x.stream AND r.ord = x.ord AND r.id = x.id""";

  private static final String ANY_REST = "SELECT 1 FROM lockstep.outbox_event_rest LIMIT 1";

  private final Transactor transactor;
  private final TxOptions options;
  private final TxOptions patient;
  private final long retentionMs;
  private final long firstWidth;

  Segments(Transactor transactor, Duration retention, long firstWidth) {
    this.transactor = transactor;
    // Appending and reading transactions queue behind our lock requests, so keep the wait short.
    // READ COMMITTED: a check after waiting for a lock sees what was committed meanwhile.
    this.options =
        transactor
            .defaults()
            .withLabel("outbox segments")
            .withIsolation(Isolation.READ_COMMITTED)
            .withLockTimeout(Duration.ofMillis(200));
    this.patient = options.withStatementTimeout(LONGEST_STEP).withDeadline(LONGEST_STEP);
    this.retentionMs = retention.toMillis();
    this.firstWidth = firstWidth;
  }

  private record Segment(int number, long from, long to) {
    String table() {
      return "outbox_event_" + number;
    }
  }

  /**
   * Runs all steps. Several nodes may run it at once; a step that meets a lock is left for the next
   * run.
   */
  void maintain() {
    tryAlone(this::makeAhead);
    clearRest();
    while (tryAlone(patient, this::emptyOne)) {
      // One at a time, until none is left.
    }
    while (tryAlone(this::dropOne)) {
      // One at a time, until none is left.
    }
    clearRest();
  }

  private void clearRest() {
    while (tryAlone(this::clearSome)) {
      // In small transactions.
    }
  }

  @FunctionalInterface
  private interface Step {
    /** Returns whether there may be more to do. */
    boolean run(Connection connection) throws SQLException;
  }

  private boolean tryAlone(Step step) {
    return tryAlone(options, step);
  }

  private boolean tryAlone(TxOptions chosen, Step step) {
    try {
      return transactor.call(
          chosen, connection -> AdvisoryLocks.tryLock(connection, LOCK) && step.run(connection));
    } catch (LockTimeout e) {
      log.debug("Segment step not possible now; it is retried in the next run", e);
      return false;
    }
  }

  private boolean makeAhead(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(CLOSE);
    Rows<Long> next = trip.query(NEXT, row -> row.getLong(1));
    Rows<Segment> last =
        trip.query(LAST, row -> new Segment(row.getInt(1), row.getLong(2), row.getLong(3)));
    Rows<OffsetDateTime> closed =
        trip.query(LAST_CLOSED, row -> row.getObject(1, OffsetDateTime.class));
    trip.send();
    long now = next.list().get(0);
    Segment newest = last.list().isEmpty() ? null : last.list().get(0);
    long width = width(newest, closed.list());
    while (newest == null || newest.to() < now + 2 * width) {
      newest = following(newest, now, width);
      make(connection, newest);
    }
    return false;
  }

  /**
   * Aims at about an hour of transactions per segment: neither thousands of segments nor a single
   * one.
   */
  private long width(@Nullable Segment newest, List<OffsetDateTime> closed) {
    long width =
        newest == null || newest.number() == DumpConversion.SEGMENT
            ? firstWidth
            : newest.to() - newest.from();
    // A configured small width stays.
    if (closed.size() == 2 && width >= MIN_WIDTH) {
      Duration life = Duration.between(closed.get(1), closed.get(0));
      if (life.compareTo(SHORT_LIFE) < 0) {
        return Math.max(width, Math.min(MAX_WIDTH, 2 * width));
      }
      if (life.compareTo(LONG_LIFE) > 0) {
        return Math.min(width, Math.max(MIN_WIDTH, width / 2));
      }
    }
    return width;
  }

  /**
   * After a pause in which no segments were made, events went to the default partition, and stay
   * there.
   */
  private static Segment following(@Nullable Segment newest, long now, long width) {
    int number = newest == null ? 1 : newest.number() + 1;
    boolean inTime = newest != null && newest.to() > now;
    // Transactions that begin meanwhile must not fall into this segment.
    long from = inTime && newest != null ? newest.to() : now + Math.min(1_000, width);
    return new Segment(number, from, from + width);
  }

  private static void make(Connection connection, Segment segment) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    // Create the table, then attach it: CREATE TABLE … PARTITION OF would lock out all appends.
    trip.update(
        """
        CREATE TABLE lockstep.%s
        (LIKE lockstep.outbox_event INCLUDING DEFAULTS INCLUDING CONSTRAINTS)"""
            .formatted(segment.table()));
    trip.update(
        "ALTER TABLE lockstep.outbox_event ATTACH PARTITION lockstep.%s FOR VALUES FROM ('%d') TO ('%d')"
            .formatted(segment.table(), segment.from(), segment.to()));
    trip.update(
        INSERT, segment.number(), Long.toString(segment.from()), Long.toString(segment.to()));
    trip.send();
  }

  /**
   * Frees the space of one segment without locking out appends. Locks the layout, as operators'
   * actions and new sinks do, before it decides: none of them can come to need the segment between
   * the decision and its commit.
   */
  private boolean emptyOne(Connection connection) throws SQLException {
    // Without the lock first: if there is nothing to empty, nobody waits.
    if (first(connection, PASSED, retentionMs).isEmpty()) {
      return false;
    }
    Streams.lockLayout(connection);
    Optional<Integer> segment = first(connection, PASSED, retentionMs);
    if (segment.isEmpty()) {
      return false;
    }
    String table = "outbox_event_" + segment.get();
    RoundTrip trip = new RoundTrip(connection);
    trip.update(GIVEN_UP.formatted(table), ACTOR, segment.get(), segment.get());
    trip.update("TRUNCATE lockstep." + table);
    trip.update(MARK_EMPTIED, segment.get());
    trip.send();
    return true;
  }

  /**
   * Drops one emptied segment; needs a moment without open appending transactions. Locks the
   * layout, as {@link DumpConversion} does: it may fill a segment of the same number.
   */
  private boolean dropOne(Connection connection) throws SQLException {
    if (first(connection, EMPTIED).isEmpty()) {
      return false;
    }
    Streams.lockLayout(connection);
    Optional<Integer> segment = first(connection, EMPTIED);
    if (segment.isEmpty()) {
      return false;
    }
    RoundTrip trip = new RoundTrip(connection);
    trip.update("DROP TABLE lockstep.outbox_event_" + segment.get());
    trip.update(FORGET, segment.get());
    trip.send();
    return true;
  }

  private static Optional<Integer> first(Connection connection, String sql, Object... values)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Integer> found = trip.query(sql, row -> row.getInt(1), values);
    trip.send();
    return found.list().stream().findFirst();
  }

  /** Locks the layout for the same reason as {@link #emptyOne}. */
  private boolean clearSome(Connection connection) throws SQLException {
    if (first(connection, ANY_REST).isEmpty()) {
      return false;
    }
    Streams.lockLayout(connection);
    RoundTrip trip = new RoundTrip(connection);
    Rows<Object> gone = trip.update(CLEAR_REST, retentionMs, REST_BATCH);
    trip.send();
    return gone.changed() == REST_BATCH;
  }
}
