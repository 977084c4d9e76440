package dev.lockstep.lab;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Prepares the schema and watches a run's sessions from outside. For one thread. */
final class Observer implements AutoCloseable {
  /** Which sessions block a session, and on which lock. Takes no locks. */
  private static final String WHO_BLOCKS =
      """
      SELECT pg_blocking_pids(w.pid),
             (SELECT l.mode || ' on ' || l.locktype || coalesce(' of ' || c.relname, '')
              FROM pg_locks l LEFT JOIN pg_class c ON c.oid = l.relation
              WHERE l.pid = w.pid AND NOT l.granted LIMIT 1)
      FROM (SELECT ?::int AS pid) w
      """;

  private final Connection connection;

  Observer(Connection connection) {
    this.connection = connection;
  }

  /**
   * @param pids the sessions it waits for; empty: none
   * @param lock the lock it waits for; empty also if it continued between the two reads
   */
  record Wait(List<Integer> pids, Optional<String> lock) {}

  Wait waitOf(int pid) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(WHO_BLOCKS)) {
      statement.setInt(1, pid);
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        List<Integer> pids = new ArrayList<>();
        for (Integer one : (Integer[]) row.getArray(1).getArray()) {
          pids.add(one);
        }
        return new Wait(pids, Optional.ofNullable(row.getString(2)));
      }
    }
  }

  /** Creates an empty schema and runs the script's setup in it. */
  void prepare(List<String> setup) throws SQLException {
    clear();
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE SCHEMA run");
      for (String sql : setup) {
        statement.execute(sql);
      }
    }
  }

  void clear() throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("DROP SCHEMA IF EXISTS run CASCADE");
    }
  }

  Outcome.Rows query(String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      return LabSession.rows(rows);
    }
  }

  /** The version, such as {@code 18.6}, without a distribution's suffix. */
  String serverVersion() throws SQLException {
    String full = query("SHOW server_version").rows().get(0).get(0);
    return full.split(" ", 2)[0];
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException e) {
      // Already gone.
    }
  }
}
