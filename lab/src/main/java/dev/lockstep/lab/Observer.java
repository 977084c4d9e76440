package dev.lockstep.lab;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Watches the sessions of a run from outside, and sets the stage for them. One thread. */
final class Observer implements AutoCloseable {
  /** Whom a session waits for, and for what. Locks nothing. */
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
   * @param pids whom the session waits for; empty: it waits for nobody
   * @param lock what for; empty also if it went on between the two questions
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

  /** An empty schema, and in it what the script begins with. */
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

  /** {@code 18.6}, without what a distribution appends. */
  String serverVersion() throws SQLException {
    String full = query("SHOW server_version").rows().get(0).get(0);
    return full.split(" ", 2)[0];
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException e) {
      // It is gone already.
    }
  }
}
