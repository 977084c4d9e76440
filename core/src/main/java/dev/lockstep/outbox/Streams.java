package dev.lockstep.outbox;

import dev.lockstep.outbox.SinkSpec.Start;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Defines what all nodes share: the number of partitions, the streams and their sinks. Every change
 * of sinks first raises the layout's version, which also serialises changes.
 */
final class Streams {
  // Checks first: ON CONFLICT alone would wait for an operator's uncommitted action.
  private static final String CREATE_LAYOUT =
      """
      INSERT INTO lockstep.outbox_layout (partitions)
      SELECT ?::smallint WHERE NOT EXISTS (SELECT 1 FROM lockstep.outbox_layout)
      ON CONFLICT DO NOTHING""";
  private static final String READ_LAYOUT = "SELECT partitions FROM lockstep.outbox_layout";
  private static final String RAISE_VERSION =
      "UPDATE lockstep.outbox_layout SET version = version + 1";
  // Writes the row, so that a REPEATABLE READ transaction that began before cannot lock it.
  private static final String LOCK_LAYOUT = "UPDATE lockstep.outbox_layout SET version = version";
  private static final String READ_VERSION = "SELECT version FROM lockstep.outbox_layout";

  private static final String FIND_STREAM = "SELECT id FROM lockstep.outbox_stream WHERE name = ?";
  // A stream made by this transaction is gone if it rolls back.
  private static final String CHECK_STREAM =
      """
      SELECT COALESCE((SELECT l.partitions FROM lockstep.outbox_layout l), 0),
        s.id IS NOT NULL, COALESCE(s.made_in = pg_current_xact_id_if_assigned(), false)
      FROM (SELECT 1) one LEFT JOIN lockstep.outbox_stream s ON s.name = ?""";
  private static final String CREATE_STREAM =
      "INSERT INTO lockstep.outbox_stream (name) VALUES (?) ON CONFLICT (name) DO NOTHING";
  private static final String ALL_STREAMS = "SELECT name FROM lockstep.outbox_stream ORDER BY name";

  private static final String SINK_COLUMNS =
      """
      SELECT k.id, k.stream AS stream_id, s.name AS stream, k.name, k.type, k.settings,
        (EXTRACT(epoch FROM k.give_up_after) * 1000)::bigint AS give_up_ms
      FROM lockstep.outbox_sink k JOIN lockstep.outbox_stream s ON s.id = k.stream
      """;
  private static final String ALL_SINKS = SINK_COLUMNS + "ORDER BY s.name, k.name";
  private static final String SINKS_OF = SINK_COLUMNS + "WHERE s.name = ? ORDER BY k.name";

  private static final String CREATE_SINK =
      """
      INSERT INTO lockstep.outbox_sink (stream, name, type, settings, give_up_after)
      VALUES (?, ?, ?, ?, ? * interval '1 millisecond') RETURNING id""";
  // Creates the cursors of all partitions together, so that a sink always has all of them.
  private static final String CREATE_CURSORS =
      """
      INSERT INTO lockstep.outbox_cursor (part, sink, done, ord, id, replay_to)
      SELECT p, ?, %s, '0', 0, '1:1:' FROM generate_series(0, ? - 1) p""";
  private static final String CURSORS_FROM_BEGINNING = CREATE_CURSORS.formatted("'1:1:'");
  private static final String CURSORS_FROM_NOW = CREATE_CURSORS.formatted("pg_current_snapshot()");
  private static final String CHANGE_SINK =
      """
      UPDATE lockstep.outbox_sink
      SET type = ?, settings = ?, give_up_after = ? * interval '1 millisecond' WHERE id = ?""";

  private static final String ALL_ORDERS = "SELECT part, sink, orders FROM lockstep.outbox_order";
  private static final String ORDER =
      """
      INSERT INTO lockstep.outbox_order AS o (part, sink, orders) VALUES (?, ?, 1)
      ON CONFLICT (part, sink) DO UPDATE SET orders = o.orders + 1""";
  private static final String ORDER_ALL =
      """
      INSERT INTO lockstep.outbox_order AS o (part, sink, orders)
      SELECT c.part, c.sink, 1 FROM lockstep.outbox_cursor c WHERE c.sink = ? ORDER BY c.part
      ON CONFLICT (part, sink) DO UPDATE SET orders = o.orders + 1""";

  private final int partitions;
  // Streams known to be committed. Streams are never removed, but the database may be replaced by
  // an older one; every append checks the stream in its statement.
  private final Set<String> known = ConcurrentHashMap.newKeySet();

  Streams(int partitions) {
    this.partitions = partitions;
  }

  /** A sink with its row's id. */
  record SinkRow(int id, int streamId, String stream, SinkSpec spec) {}

  /** A sink in a partition. */
  record CursorKey(int part, int sink) {}

  /**
   * @param orders the count of operators' actions, where there were any
   */
  record Definitions(long version, List<SinkRow> sinks, Map<CursorKey, Long> orders) {}

  /** Creates the layout if there is none; returns its number of partitions. */
  static int install(Connection connection, int partitions) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(CREATE_LAYOUT, (short) partitions);
    Rows<Integer> actual = trip.query(READ_LAYOUT, row -> row.getInt(1));
    trip.send();
    return actual.list().get(0);
  }

  private record Checked(int partitions, boolean isThere, boolean isOwn) {}

  /**
   * Checks that a stream can be appended to. Asks the database until the stream is committed.
   *
   * @throws IllegalArgumentException if it is not defined
   * @throws IllegalStateException if the database has another number of partitions: events would go
   *     to the wrong ones
   */
  void require(Connection connection, String stream) throws SQLException {
    if (known.contains(stream)) {
      return;
    }
    RoundTrip trip = new RoundTrip(connection);
    Rows<Checked> found = trip.query(CHECK_STREAM, Streams::checked, stream);
    trip.send();
    Checked one = found.list().get(0);
    requirePartitions(one.partitions(), partitions);
    if (!one.isThere()) {
      throw new IllegalArgumentException(
          "No stream '%s' is defined; define it with Outbox.define".formatted(stream));
    }
    if (!one.isOwn()) {
      known.add(stream);
    }
  }

  private static Checked checked(ResultSet row) throws SQLException {
    return new Checked(row.getInt(1), row.getBoolean(2), row.getBoolean(3));
  }

  static void requirePartitions(int actual, int wanted) {
    if (actual != wanted) {
      throw new IllegalStateException(
          "This database's outbox has %d partitions, which cannot change; this process is configured for %d. Configure %d"
              .formatted(actual, wanted, actual));
    }
  }

  /** Forgets a stream that turned out missing, so that the database is asked again. */
  void forget(String stream) {
    known.remove(stream);
  }

  static Optional<Integer> find(Connection connection, String stream) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Integer> id = trip.query(FIND_STREAM, row -> row.getInt(1), stream);
    trip.send();
    return id.list().stream().findFirst();
  }

  static void create(Connection connection, String stream) throws SQLException {
    if (find(connection, stream).isEmpty()) {
      RoundTrip trip = new RoundTrip(connection);
      trip.update(CREATE_STREAM, stream);
      trip.send();
    }
  }

  static List<String> names(Connection connection) throws SQLException {
    return RoundTrip.list(connection, ALL_STREAMS, row -> row.getString(1));
  }

  /** Reads the version first: anything newer than it is read again. */
  static Definitions read(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Long> version = trip.query(READ_VERSION, row -> row.getLong(1));
    Rows<SinkRow> sinks = trip.query(ALL_SINKS, Streams::sink);
    Rows<Map.Entry<CursorKey, Long>> orders =
        trip.query(
            ALL_ORDERS,
            row -> Map.entry(new CursorKey(row.getShort(1), row.getInt(2)), row.getLong(3)));
    trip.send();
    Map<CursorKey, Long> ordered = new HashMap<>();
    orders.list().forEach(order -> ordered.put(order.getKey(), order.getValue()));
    return new Definitions(version.list().get(0), sinks.list(), ordered);
  }

  /** Makes the owner reload a sink's cursor in one partition. */
  static void order(RoundTrip trip, short part, int sink) {
    trip.update(ORDER, part, sink);
  }

  /** Makes the owners reload a sink's cursors in all partitions. */
  static void orderAll(RoundTrip trip, int sink) {
    trip.update(ORDER_ALL, sink);
  }

  static List<SinkRow> sinksOf(Connection connection, String stream) throws SQLException {
    return RoundTrip.list(connection, SINKS_OF, Streams::sink, stream);
  }

  static Optional<SinkRow> sinkOf(Connection connection, String stream, String sink)
      throws SQLException {
    return sinksOf(connection, stream).stream()
        .filter(row -> row.spec().name().equals(sink))
        .findFirst();
  }

  /**
   * Locks the layout's row without raising its version, so no relay reloads. Operators' actions,
   * changes of sinks and the freeing of events all hold this lock: what one decides stays true
   * until it commits. Taken before any lock on cursors, keys or events.
   */
  static void lockLayout(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(LOCK_LAYOUT);
    trip.send();
  }

  /** Raises the layout's version. Locks its row, before anything else that a change locks. */
  static void raiseVersion(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update(RAISE_VERSION);
    trip.send();
  }

  /** Makes these the stream's only sinks. */
  void define(Connection connection, String stream, List<SinkSpec> sinks, String actor)
      throws SQLException {
    raiseVersion(connection);
    RoundTrip trip = new RoundTrip(connection);
    trip.update(CREATE_STREAM, stream);
    Rows<Integer> id = trip.query(FIND_STREAM, row -> row.getInt(1), stream);
    trip.send();
    Map<String, SinkRow> before = new HashMap<>();
    sinksOf(connection, stream).forEach(row -> before.put(row.spec().name(), row));
    Set<String> wanted = new HashSet<>();
    for (SinkSpec spec : sinks) {
      wanted.add(spec.name());
      SinkRow row = before.get(spec.name());
      if (row == null) {
        create(connection, id.list().get(0), spec);
        OutboxAudit.write(connection, actor, "add", stream, spec.name(), "type " + spec.type());
      } else if (!row.spec().equals(withoutStart(spec))) {
        change(connection, row.id(), spec);
        OutboxAudit.write(connection, actor, "change", stream, spec.name(), "type " + spec.type());
      }
    }
    for (SinkRow row : List.copyOf(before.values())) {
      if (!wanted.contains(row.spec().name())) {
        remove(connection, row.id());
        OutboxAudit.write(
            connection, actor, "remove", stream, row.spec().name(), "no longer defined");
      }
    }
  }

  private static SinkSpec withoutStart(SinkSpec spec) {
    return new SinkSpec(
        spec.name(), spec.type(), spec.settings(), Start.BEGINNING, spec.giveUpAfter());
  }

  private void create(Connection connection, int stream, SinkSpec spec) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    List<Object> values =
        new ArrayList<>(List.of(stream, spec.name(), spec.type(), spec.settings()));
    Rows<Integer> id =
        trip.query(
            giveUp(CREATE_SINK, spec), row -> row.getInt(1), withGiveUp(values, spec).toArray());
    trip.send();
    RoundTrip cursors = new RoundTrip(connection);
    cursors.update(
        spec.start() == Start.NOW ? CURSORS_FROM_NOW : CURSORS_FROM_BEGINNING,
        id.list().get(0),
        partitions);
    cursors.send();
  }

  private static void change(Connection connection, int sink, SinkSpec spec) throws SQLException {
    List<Object> values = withGiveUp(new ArrayList<>(List.of(spec.type(), spec.settings())), spec);
    values.add(sink);
    RoundTrip trip = new RoundTrip(connection);
    trip.update(giveUp(CHANGE_SINK, spec), values.toArray());
    trip.send();
  }

  private static void remove(Connection connection, int sink) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    trip.update("DELETE FROM lockstep.outbox_cursor WHERE sink = ?", sink);
    trip.update("DELETE FROM lockstep.outbox_parked WHERE sink = ?", sink);
    trip.update("DELETE FROM lockstep.outbox_order WHERE sink = ?", sink);
    trip.update("DELETE FROM lockstep.outbox_sink WHERE id = ?", sink);
    trip.send();
  }

  /** Parameters cannot be null here, so NULL goes into the statement. */
  private static String giveUp(String sql, SinkSpec spec) {
    return spec.giveUpAfter().isPresent()
        ? sql
        : sql.replace("? * interval '1 millisecond'", "NULL");
  }

  private static List<Object> withGiveUp(List<Object> values, SinkSpec spec) {
    spec.giveUpAfter().ifPresent(time -> values.add(time.toMillis()));
    return values;
  }

  private static SinkRow sink(ResultSet row) throws SQLException {
    long giveUpMs = row.getLong("give_up_ms");
    OptionalLong giveUp = row.wasNull() ? OptionalLong.empty() : OptionalLong.of(giveUpMs);
    SinkSpec spec =
        new SinkSpec(
            row.getString("name"),
            row.getString("type"),
            row.getString("settings"),
            Start.BEGINNING,
            giveUp.isPresent()
                ? Optional.of(Duration.ofMillis(giveUp.getAsLong()))
                : Optional.empty());
    return new SinkRow(row.getInt("id"), row.getInt("stream_id"), row.getString("stream"), spec);
  }
}
