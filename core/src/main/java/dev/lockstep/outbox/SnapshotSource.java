package dev.lockstep.outbox;

import dev.lockstep.fault.StatementTimeout;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads by comparing snapshots: an event is new if the previous snapshot did not show it and this
 * one does. A snapshot that shows event n + 1 of a key also shows n, because the writer of n + 1
 * got the key's lock only after n had committed. So a read never misses an earlier event of a key.
 */
final class SnapshotSource implements EventSource {
  private static final Logger log = LoggerFactory.getLogger(SnapshotSource.class);

  // One statement, so that everything is seen in one snapshot, which is the next position.
  //
  // CursorPosition.start says where to begin (w.start). No event has ord >= the xmax of a snapshot
  // that shows it.
  //
  // A read is bounded in rows, and in bytes by the running sum. ROWS, because RANGE would search
  // for peers; there are none. The index (part, stream, ord, id) gives the order from any position,
  // however much lies behind it. The separate comparison of ord lets segments be pruned.
  private static final String LOOK =
      """
      WITH now AS MATERIALIZED (SELECT pg_current_snapshot() AS s)
      SELECT 0, l.version, now.s::text, %s, NULL, NULL, NULL, NULL, NULL, NULL
      FROM now, lockstep.outbox_layout l
      UNION ALL
      SELECT c.n, b.id, b.ord::text, b.key, b.seq, b.type, b.content_type, b.headers, b.data,
        b.appended_at
      FROM now,
        unnest(?::smallint[], ?::integer[], ?::pg_snapshot[], ?::pg_snapshot[], ?::xid8[],
            ?::bigint[], ?::bigint[], ?::pg_snapshot[])
          WITH ORDINALITY c(part, stream, done, target, ord, id, replay_seq, replay_to, n)
        CROSS JOIN LATERAL (
          SELECT COALESCE(c.target, now.s) AS target, %s AS start) w
        CROSS JOIN LATERAL (
          SELECT r.*, sum(r.bytes) OVER (ORDER BY r.ord, r.id ROWS UNBOUNDED PRECEDING) AS so_far
          FROM (SELECT e.* FROM lockstep.outbox_event e
                WHERE e.part = c.part AND e.stream = c.stream
                  AND e.ord < pg_snapshot_xmax(w.target)
                  AND e.ord >= GREATEST(w.start, c.ord)
                  AND (e.ord, e.id) > (GREATEST(w.start, c.ord),
                                       CASE WHEN c.ord >= w.start THEN c.id ELSE -1 END)
                  AND NOT pg_visible_in_snapshot(e.xid, c.done)
                  AND pg_visible_in_snapshot(e.xid, w.target)
                  AND (e.seq >= c.replay_seq OR NOT pg_visible_in_snapshot(e.xid, c.replay_to))
                ORDER BY e.ord, e.id LIMIT ?) r) b
      WHERE b.so_far - b.bytes < ?"""
          .formatted(Incarnations.CURRENT, CursorPosition.start("COALESCE(c.target, now.s)"));

  // By key, and only events that the position has passed; later ones arrive in the normal reads.
  private static final String BACKLOG =
      """
      SELECT 0, b.id, b.ord::text, b.key, b.seq, b.type, b.content_type, b.headers, b.data,
        b.appended_at
      FROM (
        SELECT r.*, c.n, sum(r.bytes) OVER (ORDER BY c.n, r.seq ROWS UNBOUNDED PRECEDING)
          AS so_far
        FROM unnest(?::text[], ?::bigint[], ?::xid8[]) WITH ORDINALITY c(key, seq, ord, n)
          CROSS JOIN LATERAL (
            SELECT e.* FROM lockstep.outbox_event e
            WHERE e.part = ? AND e.stream = ? AND e.key = c.key AND e.seq >= c.seq
              AND e.ord >= c.ord AND pg_visible_in_snapshot(e.xid, ?::pg_snapshot)
            ORDER BY e.seq LIMIT ?) r) b
      WHERE b.so_far - b.bytes < ?
      ORDER BY b.n, b.seq""";

  private static final String INCARNATION = "SELECT COALESCE(" + Incarnations.CURRENT + ", '')";

  // A plan made while the table was small would collect and sort all of a large one.
  private static final String IN_INDEX_ORDER = "SET LOCAL enable_bitmapscan = off";

  // Time to skip events that a read does not return: hours of them after a long transaction, or all
  // below a replay's sequence.
  private static final Duration LONG_WAY = Duration.ofMinutes(30);

  private final Transactor transactor;
  private final TxOptions options;
  private final TxOptions patient;

  SnapshotSource(Transactor transactor) {
    this.transactor = transactor;
    // Declared as writing: a standby refuses that, and its connection is dropped. A standby's
    // answer would differ from the primary's.
    this.options = transactor.defaults().withLabel("outbox look").withIndexLookups();
    this.patient = options.withStatementTimeout(LONG_WAY).withDeadline(LONG_WAY);
  }

  /** The first row of a look describes the server; each other row is an event. */
  private record Row(int ask, @Nullable Server server, @Nullable ReadEvent read) {}

  private record Server(long version, String snapshot, String incarnation) {}

  @Override
  public Look look(List<ReadRequest> asks, int maxRows, int maxBytes) {
    try {
      return look(options, asks, maxRows, maxBytes);
    } catch (StatementTimeout e) {
      // The next look would begin at the same place and time out again.
      log.warn("Reading the outbox timed out; reading again with more time: {}", e.toString());
      return look(patient, asks, maxRows, maxBytes);
    }
  }

  private Look look(TxOptions chosen, List<ReadRequest> asks, int maxRows, int maxBytes) {
    List<Row> rows =
        transactor.call(
            chosen,
            connection -> {
              RoundTrip trip = new RoundTrip(connection);
              trip.update(IN_INDEX_ORDER);
              Rows<Row> found =
                  trip.query(LOOK, new RowReading(asks)::read, parameters(asks, maxRows, maxBytes));
              trip.send();
              return found.list();
            });
    Server server = new Server(0, "", "");
    List<List<ReadEvent>> reads = new ArrayList<>();
    asks.forEach(ask -> reads.add(new ArrayList<>()));
    for (Row row : rows) {
      if (row.server() != null) {
        server = row.server();
      } else if (row.read() != null) {
        reads.get(row.ask() - 1).add(row.read());
      }
    }
    List<Batch> batches = new ArrayList<>();
    for (int i = 0; i < asks.size(); i++) {
      CursorPosition after =
          after(asks.get(i).from(), reads.get(i), server.snapshot(), maxRows, maxBytes);
      batches.add(new Batch(reads.get(i), after));
    }
    return new Look(server.incarnation(), server.version(), batches);
  }

  /** Fewer rows than asked for means that the step is complete. */
  private static CursorPosition after(
      CursorPosition from, List<ReadEvent> rows, String now, int maxRows, int maxBytes) {
    String target = from.target() == null ? now : from.target();
    long bytes = rows.stream().mapToLong(row -> row.event().content().size()).sum();
    if (rows.size() < maxRows && bytes < maxBytes) {
      return CursorPosition.at(target);
    }
    ReadEvent last = rows.get(rows.size() - 1);
    return from.within(target, last.ord(), last.event().id());
  }

  private static Object[] parameters(List<ReadRequest> asks, int maxRows, int maxBytes) {
    List<Object> all = new ArrayList<>();
    all.add(SqlArray.smallints(asks.stream().map(ReadRequest::part).toList()));
    all.add(SqlArray.integers(asks.stream().map(ReadRequest::stream).toList()));
    Collections.addAll(all, CursorPosition.arrays(asks.stream().map(ReadRequest::from).toList()));
    all.add(maxRows);
    all.add(maxBytes);
    return all.toArray();
  }

  @Override
  public Backlog backlog(ReadRequest ask, List<BacklogRequest> keys, int maxRows, int maxBytes) {
    return transactor.call(
        options,
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          trip.update(IN_INDEX_ORDER);
          Rows<String> incarnation = trip.query(INCARNATION, row -> row.getString(1));
          Rows<ReadEvent> found =
              trip.query(
                  BACKLOG,
                  row -> new ReadEvent(event(row, ask.streamName()), row.getString(3)),
                  SqlArray.texts(keys.stream().map(BacklogRequest::key).toList()),
                  SqlArray.bigints(keys.stream().map(BacklogRequest::seq).toList()),
                  new SqlArray(
                      "xid8", keys.stream().map(BacklogRequest::ord).toArray(String[]::new)),
                  ask.part(),
                  ask.stream(),
                  ask.from().done(),
                  maxRows,
                  maxBytes);
          trip.send();
          return new Backlog(incarnation.list().get(0), found.list());
        });
  }

  /** Reads an event from columns 2 on, as the statements above select them. */
  static Event event(ResultSet row, String stream) throws SQLException {
    return event(row, stream, row.getString(6), row.getString(7));
  }

  private static Event event(ResultSet row, String stream, String type, String contentType)
      throws SQLException {
    return new Event(
        row.getLong(2),
        stream,
        row.getString(4),
        row.getLong(5),
        type,
        Content.stored(contentType, row.getBytes(9)),
        EventHeaders.decode(row.getString(8)),
        // The driver's fastest way to read a time.
        row.getTimestamp(10).toInstant());
  }

  /**
   * Reads the rows of a look. Keeps one copy of strings that repeat in successive rows, so that the
   * garbage collector moves less while thousands of events wait.
   */
  private static final class RowReading {
    private final List<ReadRequest> asks;
    private final Repeated ords = new Repeated();
    private final Repeated types = new Repeated();
    private final Repeated contentTypes = new Repeated();

    RowReading(List<ReadRequest> asks) {
      this.asks = asks;
    }

    Row read(ResultSet row) throws SQLException {
      int ask = row.getInt(1);
      if (ask == 0) {
        String incarnation = row.getString(4);
        return new Row(
            ask,
            new Server(row.getLong(2), row.getString(3), incarnation == null ? "" : incarnation),
            null);
      }
      String ord = ords.once(row.getString(3));
      String type = types.once(row.getString(6));
      String contentType = contentTypes.once(row.getString(7));
      Event event = event(row, asks.get(ask - 1).streamName(), type, contentType);
      return new Row(ask, null, new ReadEvent(event, ord));
    }
  }

  private static final class Repeated {
    private String last = "";

    String once(String text) {
      if (!text.equals(last)) {
        last = text;
      }
      return last;
    }
  }
}
