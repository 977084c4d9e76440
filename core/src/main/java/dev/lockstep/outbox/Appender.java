package dev.lockstep.outbox;

import dev.lockstep.fault.SqlFault;
import dev.lockstep.sql.ClosingWork;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.LockOrder;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/** Appends events, on the caller's connection or together with a COMMIT. Thread-safe. */
final class Appender implements ClosingWork<NewEvent> {
  // Content per statement; far below the protocol's limit.
  private static final long MAX_STATEMENT_BYTES = 16L * 1024 * 1024;

  // Locks the key's row until the caller's transaction ends. The next append to the key waits for
  // the outcome, so the sequence is dense and equals commit order. ord: see the table.
  //
  // Looks the stream up here, because the process may have seen it in another database. If the
  // stream is missing, or the number of partitions differs, its id is NULL, which the table
  // refuses.
  private static final String ONE =
      """
      WITH k AS (
        INSERT INTO lockstep.outbox_key AS o (part, stream, key, seq, ord)
        VALUES (?, (SELECT s.id FROM lockstep.outbox_stream s, lockstep.outbox_layout l
                    WHERE s.name = ? AND l.partitions = ?), ?, 1, pg_current_xact_id())
        ON CONFLICT (part, stream, key)
        DO UPDATE SET seq = o.seq + 1, ord = GREATEST(o.ord, excluded.ord)
        RETURNING stream, seq, ord)
      INSERT INTO lockstep.outbox_event
        (part, stream, ord, xid, key, seq, type, content_type, headers, data, bytes)
      SELECT ?, k.stream, k.ord, pg_current_xact_id(), ?, k.seq, ?, ?, ?, ?, ? FROM k
      RETURNING seq""";

  // Locks the keys' rows in the order of the arrays, the same for every caller. Streams as above,
  // each looked up once.
  private static final String COUNT_UP =
      """
      WITH streams AS MATERIALIZED (
        SELECT array_agg(s.id ORDER BY n.place) AS ids
        FROM unnest(?::text[]) WITH ORDINALITY n(name, place)
          LEFT JOIN lockstep.outbox_layout l ON l.partitions = ?
          LEFT JOIN lockstep.outbox_stream s ON s.name = n.name AND l.partitions IS NOT NULL)
      INSERT INTO lockstep.outbox_key AS o (part, stream, key, seq, ord)
      SELECT x.part, (SELECT ids FROM streams)[x.stream], x.key, x.n, pg_current_xact_id()
      FROM unnest(?::smallint[], ?::integer[], ?::text[], ?::bigint[])
        WITH ORDINALITY x(part, stream, key, n, place)
      ORDER BY x.place
      ON CONFLICT (part, stream, key)
      DO UPDATE SET seq = o.seq + excluded.seq, ord = GREATEST(o.ord, excluded.ord)
      RETURNING part, stream, key, seq, ord::text""";
  private static final String IDS =
      "SELECT id, name FROM lockstep.outbox_stream WHERE name = ANY (?::text[])";

  // Inserts in array order, so that ids grow with a key's sequence.
  private static final String INSERT =
      """
      INSERT INTO lockstep.outbox_event
        (part, stream, ord, xid, key, seq, type, content_type, headers, data, bytes)
      SELECT x.part, x.stream, x.ord, pg_current_xact_id(), x.key, x.seq, x.type, x.content_type,
        x.headers, x.data, x.bytes
      FROM unnest(?::smallint[], ?::integer[], ?::xid8[], ?::text[], ?::bigint[], ?::text[],
          ?::text[], ?::text[], ?::bytea[], ?::integer[])
        WITH ORDINALITY x(part, stream, ord, key, seq, type, content_type, headers, data, bytes,
          place)
      ORDER BY x.place""";

  private static final String HINT = "SELECT pg_notify(?, '')";

  private final OutboxConfig config;
  private final Streams streams;
  private final AtomicLong hintedNanos;

  /** A key of a stream, sortable in lock order. */
  private record Key(short part, String stream, String key) {
    static final Comparator<Key> LOCK_ORDER =
        Comparator.comparingInt(Key::part)
            .thenComparing(Key::stream, LockOrder.TEXT)
            .thenComparing(Key::key, LockOrder.TEXT);
  }

  /** A key's counter; the stream is its row's id. */
  private record Counted(short part, int stream, String key, long seq, String ord) {
    Counted with(long seq) {
      return new Counted(part, stream, key, seq, ord);
    }
  }

  private record Row(Counted at, NewEvent event) {}

  Appender(OutboxConfig config, Streams streams) {
    this.config = config;
    this.streams = streams;
    this.hintedNanos = new AtomicLong(System.nanoTime() - config.hintInterval().toNanos());
  }

  /**
   * The part of an append that is still to be sent.
   *
   * @param places known after it was sent
   */
  private record Rest(RoundTrip trip, Supplier<List<Appended>> places) {}

  List<Appended> append(Connection connection, List<NewEvent> events) throws SQLException {
    for (NewEvent event : events) {
      require(connection, event);
    }
    Rest rest = begin(connection, events);
    rest.trip().send();
    return rest.places().get();
  }

  /**
   * Runs at the end of a transaction. A single event goes out with its COMMIT; of several,
   * everything but the key locks does.
   */
  @Override
  public void run(Exchange exchange, List<NewEvent> left) throws SQLException {
    Outbox.requireAtMost(Outbox.MAX_BATCH, left.size());
    exchange.defer(begin(exchange.connection(), left).trip());
  }

  /**
   * Checks that an event can be appended.
   *
   * @throws IllegalArgumentException if not
   */
  void require(Connection connection, NewEvent event) throws SQLException {
    if (event.content().size() > config.maxContentBytes()) {
      throw new IllegalArgumentException(
          "An event's content is at most %d bytes, this one %d"
              .formatted(config.maxContentBytes(), event.content().size()));
    }
    streams.require(connection, event.stream());
  }

  private Rest begin(Connection connection, List<NewEvent> events) throws SQLException {
    return events.size() == 1 ? one(connection, events.get(0)) : many(connection, events);
  }

  private Rest one(Connection connection, NewEvent event) {
    Key key = keyOf(event);
    RoundTrip trip = failingWithout(List.of(event.stream()), new RoundTrip(connection));
    Rows<Long> seq =
        trip.query(
            ONE,
            row -> row.getLong(1),
            key.part(),
            key.stream(),
            (short) config.partitions(),
            key.key(),
            key.part(),
            key.key(),
            event.type(),
            event.content().type(),
            Texts.encode(event.headers()),
            event.content().bytes(),
            event.content().size());
    hint(trip);
    return new Rest(
        trip, () -> List.of(new Appended(event.stream(), event.key(), seq.list().get(0))));
  }

  /**
   * Forgets the streams if the database was replaced; the next append then reports precisely what
   * is wrong.
   */
  private RoundTrip failingWithout(List<String> names, RoundTrip trip) {
    return trip.guardedBy(
        thrown ->
            SqlFault.orMissing(
                thrown,
                () -> {
                  names.forEach(streams::forget);
                  return "This database has no stream %s, or its outbox does not have %d partitions"
                      .formatted(String.join(" or ", names), config.partitions());
                }));
  }

  private Rest many(Connection connection, List<NewEvent> events) throws SQLException {
    SortedMap<Key, Long> counts = new TreeMap<>(Key.LOCK_ORDER);
    events.forEach(event -> counts.merge(keyOf(event), 1L, Long::sum));
    Map<Key, Counted> next = countUp(connection, counts);
    List<Row> rows = new ArrayList<>();
    List<Appended> appended = new ArrayList<>();
    for (NewEvent event : events) {
      Key key = keyOf(event);
      Counted counted = Objects.requireNonNull(next.get(key));
      rows.add(new Row(counted, event));
      appended.add(new Appended(event.stream(), event.key(), counted.seq()));
      next.put(key, counted.with(counted.seq() + 1));
    }
    // Events of one partition lie together, as they are read; a key's events keep their order.
    rows.sort(Comparator.comparingInt(row -> row.at().part()));
    return new Rest(insert(connection, rows), () -> appended);
  }

  /** The first sequence number of each key. */
  private Map<Key, Counted> countUp(Connection connection, SortedMap<Key, Long> counts)
      throws SQLException {
    List<String> names = counts.keySet().stream().map(Key::stream).distinct().toList();
    Map<String, Integer> places = new HashMap<>();
    names.forEach(name -> places.put(name, places.size() + 1));
    RoundTrip trip = failingWithout(names, new RoundTrip(connection));
    Rows<Counted> counted =
        trip.query(
            COUNT_UP,
            row ->
                new Counted(
                    row.getShort(1),
                    row.getInt(2),
                    row.getString(3),
                    row.getLong(4),
                    row.getString(5)),
            SqlArray.texts(names),
            (short) config.partitions(),
            SqlArray.smallints(counts.keySet().stream().map(Key::part).toList()),
            SqlArray.integers(counts.keySet().stream().map(k -> places.get(k.stream())).toList()),
            SqlArray.texts(counts.keySet().stream().map(Key::key).toList()),
            SqlArray.bigints(counts.values()));
    Rows<Map.Entry<Integer, String>> ids =
        trip.query(IDS, row -> Map.entry(row.getInt(1), row.getString(2)), SqlArray.texts(names));
    trip.send();
    Map<Integer, String> byId = new HashMap<>();
    ids.list().forEach(id -> byId.put(id.getKey(), id.getValue()));
    Map<Key, Counted> next = new HashMap<>();
    for (Counted row : counted.list()) {
      Key key = new Key(row.part(), Objects.requireNonNull(byId.get(row.stream())), row.key());
      long first = row.seq() - Objects.requireNonNull(counts.get(key)) + 1;
      next.put(key, row.with(first));
    }
    return next;
  }

  /** Sends all but the last statement, which is returned. */
  private RoundTrip insert(Connection connection, List<Row> rows) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    int from = 0;
    while (from < rows.size()) {
      long bytes = 0;
      int to = from;
      while (to < rows.size() && bytes < MAX_STATEMENT_BYTES) {
        bytes += rows.get(to++).event().content().size();
      }
      insert(trip, rows.subList(from, to));
      from = to;
      if (from < rows.size()) {
        trip.send();
        trip = new RoundTrip(connection);
      }
    }
    hint(trip);
    return trip;
  }

  private static void insert(RoundTrip trip, List<Row> rows) {
    trip.update(
        INSERT,
        SqlArray.smallints(rows.stream().map(row -> row.at().part()).toList()),
        SqlArray.integers(rows.stream().map(row -> row.at().stream()).toList()),
        new SqlArray("xid8", rows.stream().map(row -> row.at().ord()).toArray(String[]::new)),
        SqlArray.texts(rows.stream().map(row -> row.event().key()).toList()),
        SqlArray.bigints(rows.stream().map(row -> row.at().seq()).toList()),
        SqlArray.texts(rows.stream().map(row -> row.event().type()).toList()),
        SqlArray.texts(rows.stream().map(row -> row.event().content().type()).toList()),
        SqlArray.texts(rows.stream().map(row -> Texts.encode(row.event().headers())).toList()),
        new SqlArray(
            "bytea",
            rows.stream().map(row -> row.event().content().bytes()).toArray(byte[][]::new)),
        SqlArray.integers(rows.stream().map(row -> row.event().content().size()).toList()));
  }

  /** Rate-limited: relays that are awake read anyway. */
  private void hint(RoundTrip trip) {
    long interval = config.hintInterval().toNanos();
    long last = hintedNanos.get();
    long now = System.nanoTime();
    if (interval > 0 && now - last >= interval && hintedNanos.compareAndSet(last, now)) {
      trip.query(HINT, row -> true, OutboxConfig.CHANNEL);
    }
  }

  private Key keyOf(NewEvent event) {
    short part = Partitioning.partOf(event.stream(), event.key(), config.partitions());
    return new Key(part, event.stream(), event.key());
  }
}
