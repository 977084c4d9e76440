package dev.lockstep.outbox;

import dev.lockstep.testkit.TestDatabase;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.postgresql.PGConnection;

/**
 * The tables of the outbox and of shards as pg_dump and psql take them to another server: table by
 * table in the text of COPY, the segments of the events included, constraints aside.
 */
final class DumpedOutbox {
  private static final String TABLES =
      """
      SELECT c.relname FROM pg_class c
      WHERE c.relnamespace = 'lockstep'::regnamespace AND c.relkind = 'r'
        AND c.relname ~ '^(outbox|shard)' AND c.relname <> 'outbox_audit' ORDER BY 1""";
  private static final String SEGMENTS =
      """
      SELECT format('CREATE TABLE lockstep.%s PARTITION OF lockstep.outbox_event %s',
        c.relname, pg_get_expr(c.relpartbound, c.oid))
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = 'lockstep.outbox_event'::regclass AND c.relname ~ '\\d$'""";
  private static final String DROPS =
      """
      SELECT 'DROP TABLE lockstep.' || c.relname
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = 'lockstep.outbox_event'::regclass AND c.relname ~ '\\d$'""";
  private static final List<String> SEQUENCES =
      List.of("outbox_event_id", "outbox_stream_id_seq", "outbox_sink_id_seq");

  private DumpedOutbox() {}

  /** As after the migrations, but for the marks and the audit. */
  static void clear(TestDatabase database) {
    texts(database, DROPS).forEach(database::execute);
    for (String table : texts(database, TABLES)) {
      if (!table.matches("outbox_(home|incarnation)")) {
        database.execute("TRUNCATE lockstep." + table + " CASCADE");
      }
    }
  }

  /** Dumps one and restores it in the other, which has nothing. */
  static void copy(TestDatabase old, TestDatabase fresh) throws SQLException, IOException {
    clear(fresh);
    fresh.execute("TRUNCATE lockstep.outbox_home, lockstep.outbox_incarnation");
    texts(old, SEGMENTS).forEach(fresh::execute);
    try (Connection from = old.connection();
        Connection to = fresh.connection()) {
      execute(to, "SET session_replication_role = replica");
      for (String table : texts(old, TABLES)) {
        StringWriter rows = new StringWriter();
        from.unwrap(PGConnection.class)
            .getCopyAPI()
            .copyOut("COPY lockstep." + table + " TO STDOUT", rows);
        to.unwrap(PGConnection.class)
            .getCopyAPI()
            .copyIn("COPY lockstep." + table + " FROM STDIN", new StringReader(rows.toString()));
      }
      execute(to, "RESET session_replication_role");
    }
    for (String sequence : SEQUENCES) {
      long last = old.queryLong("SELECT last_value FROM lockstep." + sequence);
      fresh.execute("SELECT setval('lockstep.%s', %d)".formatted(sequence, last));
    }
  }

  private static List<String> texts(TestDatabase database, String sql) {
    return database.query(sql, row -> row.getString(1));
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
