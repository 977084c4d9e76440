package dev.lockstep.bench;

import dev.lockstep.outbox.Content;
import dev.lockstep.outbox.NewEvent;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.stream.IntStream;

/**
 * Ten million events ahead of a sink that starts now, in the segment to which new ones are
 * appended. The first event of each key is appended; the others are copies with the sequences and
 * places that appending would have given them. To take one minute instead of several, the segment
 * is filled separately and indexed afterwards.
 */
final class EventsBehind {
  static final int COUNT = 10_000_000;
  private static final int KEYS = 1_000;

  private static final String SEGMENT =
      """
      SELECT segment, from_ord, to_ord FROM lockstep.outbox_segment
      WHERE from_ord <= pg_current_xact_id() AND to_ord > pg_current_xact_id()""";

  // Spreads them evenly from the segment's first place to the present.
  private static final String FILL =
      """
      INSERT INTO lockstep.filled
        (part, stream, ord, xid, key, seq, type, content_type, headers, data, bytes)
      SELECT e.part, e.stream, x.ord, x.ord, e.key, e.seq + n, e.type, e.content_type, e.headers,
        e.data, e.bytes
      FROM generate_series(1, %1$d) n
        CROSS JOIN LATERAL (
          SELECT (%2$s + n * (pg_current_xact_id()::text::bigint - %2$s) / %1$d)::text::xid8
            AS ord) x
        CROSS JOIN lockstep.outbox_event e
      WHERE e.stream = (SELECT id FROM lockstep.outbox_stream WHERE name = '%3$s')""";
  private static final String COUNT_UP =
      """
      UPDATE lockstep.outbox_key SET seq = seq + %1$d, ord = pg_current_xact_id()
      WHERE stream = (SELECT id FROM lockstep.outbox_stream WHERE name = '%2$s')""";

  private final Relaying relaying;
  final String stream;

  private EventsBehind(Relaying relaying, String stream) {
    this.relaying = relaying;
    this.stream = stream;
  }

  /** Appends the first events early, so that the others can be spread over later transactions. */
  static EventsBehind begin(Relaying relaying) {
    String stream = relaying.define();
    relaying.transactor.run(
        connection ->
            relaying.outbox.appendAll(
                connection,
                IntStream.range(0, KEYS)
                    .mapToObj(i -> NewEvent.of(stream, "old-" + i, "t", Content.json("{}")))
                    .toList()));
    return new EventsBehind(relaying, stream);
  }

  /** Writes all the others. Nothing may append or relay meanwhile. */
  void fill() throws SQLException {
    try (Connection connection = relaying.database.pool().getConnection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      fill(statement);
      connection.commit();
    }
    Progress.say("%,d events behind: analysing", COUNT);
    relaying.database.execute("ANALYZE lockstep.outbox_event");
  }

  private void fill(Statement statement) throws SQLException {
    String table;
    String from;
    String to;
    try (ResultSet segment = statement.executeQuery(SEGMENT)) {
      segment.next();
      table = "lockstep.outbox_event_" + segment.getInt(1);
      from = segment.getString(2);
      to = segment.getString(3);
    }
    Progress.say("%,d events behind: writing them", COUNT);
    int others = COUNT / KEYS - 1;
    statement.execute("SET LOCAL maintenance_work_mem = '512MB'");
    statement.execute(
        "CREATE TABLE lockstep.filled"
            + " (LIKE lockstep.outbox_event INCLUDING DEFAULTS INCLUDING CONSTRAINTS)");
    statement.execute("INSERT INTO lockstep.filled SELECT * FROM " + table);
    long written = statement.executeLargeUpdate(FILL.formatted(others, from, stream));
    Report.requireBalance("events behind", COUNT, written + KEYS);
    statement.execute(COUNT_UP.formatted(others, stream));
    Progress.say("%,d events behind: making the indexes", COUNT);
    statement.execute("DROP TABLE " + table);
    statement.execute(
        "ALTER TABLE lockstep.filled RENAME TO " + table.substring("lockstep.".length()));
    statement.execute(
        "ALTER TABLE lockstep.outbox_event ATTACH PARTITION %s FOR VALUES FROM ('%s') TO ('%s')"
            .formatted(table, from, to));
  }
}
