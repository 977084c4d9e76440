package dev.lockstep.outbox;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Converts an outbox that was restored from a dump: its transaction ids belong to another server.
 * No event is lost, and no event is sent again to a sink whose cursor says it was delivered.
 *
 * <p>While no transaction appends, every event is committed, and each cursor tells by the old ids
 * which events its sink has received. Events are grouped by <i>the set of sinks that received
 * them</i>. Each set becomes a transaction id below all that a server ever assigns. Each cursor
 * becomes a snapshot in which exactly the sets that contain its sink are visible. All events get
 * one position below every new one and keep their ids, which grow with a key's sequence; so they
 * are read in key order, before newly appended events. They lie in a segment of their own, which is
 * dropped like any other. Sets beyond {@code MAX_SETS} are sent to all sinks again.
 */
final class DumpConversion {
  private static final Logger log = LoggerFactory.getLogger(DumpConversion.class);

  /** The segment of the converted events. */
  static final int SEGMENT = 0;

  // Ids that are in the past on every server: initdb uses several hundred.
  private static final int MAX_SETS = 253;
  private static final int PLACE = 255;
  private static final int END = 256;

  private static final String NEXT =
      """
      SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
        (SELECT min(xmin::text::bigint) FROM lockstep.outbox_home
         WHERE EXISTS (SELECT 1 FROM lockstep.outbox_home h WHERE h.mark <> h.xmin))""";

  // The sinks that received an event. No sink received an event that was appended after the restore
  // by a process that had not noticed it. Such an event was written by the transaction it names, or
  // by one after the restore; comparing it with the cursors would be meaningless.
  private static final String HAD_BY =
      """
      (SELECT COALESCE(string_agg(c.sink::text, ',' ORDER BY c.sink), '')
       FROM lockstep.outbox_cursor c JOIN lockstep.outbox_sink k ON k.id = c.sink
       WHERE c.part = e.part AND k.stream = e.stream
         AND NOT (e.xmin = xid(e.xid) OR e.xid BETWEEN ?::text::xid8 AND ?::text::xid8)
         AND %s)"""
          .formatted(CursorPosition.PASSED);
  private static final String SETS =
      """
      SELECT x.had_by FROM (SELECT %s AS had_by FROM lockstep.outbox_event e) x
      GROUP BY x.had_by ORDER BY count(*) DESC LIMIT ?"""
          .formatted(HAD_BY);
  // If there are more sets than ids, the events of the rest are sent to all sinks: repeats, not
  // losses.
  private static final String MOVE_EVENTS =
      """
      UPDATE lockstep.outbox_event e
      SET ord = '%d', xid = COALESCE(array_position(?::text[], %s), %d)::text::xid8"""
          .formatted(PLACE, HAD_BY, MAX_SETS + 1);
  private static final String MOVE_CURSORS =
      """
      UPDATE lockstep.outbox_cursor
      SET done = ?::pg_snapshot, target = NULL, ord = '0', id = 0, replay_seq = 0,
        replay_to = '%s', version = version + 1
      WHERE sink = ?"""
          .formatted(CursorPosition.NOTHING);
  private static final String MOVE_PARKED =
      "UPDATE lockstep.outbox_parked SET ord = '%d', version = version + 1".formatted(PLACE);
  private static final String MOVE_KEYS =
      "UPDATE lockstep.outbox_key SET ord = '%d' WHERE ord >= ?::text::xid8".formatted(PLACE);
  private static final String RAISE_IDS =
      """
      SELECT setval('lockstep.outbox_event_id', m.id)
      FROM (SELECT max(id) AS id FROM lockstep.outbox_event) m
      WHERE m.id >= (SELECT last_value FROM lockstep.outbox_event_id)""";
  private static final String NOTE =
      """
      INSERT INTO lockstep.outbox_audit (actor, action, stream, reason)
      SELECT 'lockstep', 'restored', name,
        'The database was restored from a dump: positions were moved to this server'
      FROM lockstep.outbox_stream""";

  private static final String SEGMENTS =
      """
      SELECT substring(c.relname::text FROM 14)::integer
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = 'lockstep.outbox_event'::regclass AND c.relname ~ '^outbox_event_\\d+$'
      """;
  private static final String INSERT_SEGMENT =
      """
      INSERT INTO lockstep.outbox_segment (segment, from_ord, to_ord, made_at, closed_at)
      VALUES (?, '1', '%d', now(), now())
      ON CONFLICT (segment) DO UPDATE SET closed_at = now(), emptied_at = NULL"""
          .formatted(END);

  private final Connection connection;

  DumpConversion(Connection connection) {
    this.connection = connection;
  }

  private record Ids(long next, long restored) {}

  /** Generous timeouts: it waits for appending transactions, and many events may be kept. */
  static TxOptions options(TxOptions defaults) {
    return defaults
        .withLabel("outbox restored")
        .withStatementTimeout(Duration.ofHours(1))
        .withDeadline(Duration.ofHours(2))
        .withLockTimeout(Duration.ofMinutes(1));
  }

  /** Converts everything. The caller holds the layout's row, and commits. */
  void run() throws SQLException {
    log.warn("The outbox was restored from a dump; moving its positions to this server");
    // Appending transactions lock keys first, so none that waits for this lock holds the second.
    run("LOCK TABLE lockstep.outbox_key IN EXCLUSIVE MODE");
    run("LOCK TABLE lockstep.outbox_event IN ACCESS EXCLUSIVE MODE");
    Ids ids = ids();
    String from = Long.toString(ids.restored());
    String to = Long.toString(ids.next() - 1);
    RoundTrip read = new RoundTrip(connection);
    Rows<String> sets = read.query(SETS, row -> row.getString(1), from, to, MAX_SETS);
    Rows<Integer> segments = read.query(SEGMENTS, row -> row.getInt(1));
    Rows<Integer> sinks = read.query("SELECT id FROM lockstep.outbox_sink", row -> row.getInt(1));
    read.send();
    makeSegment(segments.list().contains(SEGMENT));
    RoundTrip move = new RoundTrip(connection);
    move.update(MOVE_EVENTS, SqlArray.texts(sets.list()), from, to);
    for (int sink : sinks.list()) {
      move.update(MOVE_CURSORS, done(sets.list(), sink), sink);
    }
    move.update(MOVE_PARKED);
    move.update(MOVE_KEYS, Long.toString(ids.next()));
    move.query(RAISE_IDS, row -> true);
    move.send();
    dropSegments(segments.list());
    RoundTrip end = new RoundTrip(connection);
    end.update(NOTE);
    end.query("SELECT lockstep.outbox_settle()", row -> true);
    end.update("DELETE FROM lockstep.outbox_incarnation");
    end.send();
  }

  /** The next id, and the id of the restoring transaction; equal if the latter is unknown. */
  private Ids ids() throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Ids> ids =
        trip.query(
            NEXT,
            row -> {
              long next = row.getLong(1);
              long low = row.getLong(2);
              if (row.wasNull()) {
                return new Ids(next, next);
              }
              // Rows store the low 32 bits of an id that is in the past.
              long full = (next & ~0xffffffffL) | low;
              return new Ids(next, full < next ? full : full - (1L << 32));
            });
    trip.send();
    return ids.list().get(0);
  }

  /** A snapshot in which exactly the sets that contain the sink are visible. */
  private static String done(List<String> sets, int sink) {
    String name = Integer.toString(sink);
    List<Integer> unseen = new ArrayList<>();
    for (int i = 0; i < sets.size(); i++) {
      if (!Arrays.asList(sets.get(i).split(",")).contains(name)) {
        unseen.add(i + 1);
      }
    }
    unseen.add(MAX_SETS + 1);
    return "%d:%d:%s"
        .formatted(
            unseen.get(0),
            END,
            unseen.stream().map(String::valueOf).collect(Collectors.joining(",")));
  }

  private void makeSegment(boolean isThere) throws SQLException {
    if (!isThere) {
      run(
          """
          CREATE TABLE lockstep.outbox_event_%d PARTITION OF lockstep.outbox_event
          FOR VALUES FROM ('1') TO ('%d')"""
              .formatted(SEGMENT, END));
    }
    RoundTrip trip = new RoundTrip(connection);
    trip.update(INSERT_SEGMENT, SEGMENT);
    trip.send();
  }

  /** Drops the old segments: they are empty, and their ranges are meaningless here. */
  private void dropSegments(List<Integer> segments) throws SQLException {
    for (int segment : segments) {
      if (segment != SEGMENT) {
        run("DROP TABLE lockstep.outbox_event_" + segment);
      }
    }
    run("DELETE FROM lockstep.outbox_segment WHERE segment <> " + SEGMENT);
  }

  private void run(String sql) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(sql);
    trip.send();
  }
}
