package dev.lockstep.tx;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Statements in one line, so that a test reads as its interleaving. */
public final class Sql {
  private Sql() {}

  /** The first column of the first row. */
  public static long query(Connection connection, String sql, Object... args) throws SQLException {
    return Long.parseLong(text(connection, sql, args));
  }

  /** The first column of the first row, as text. */
  public static String text(Connection connection, String sql, Object... args) throws SQLException {
    try (PreparedStatement statement = prepare(connection, sql, args);
        ResultSet row = statement.executeQuery()) {
      row.next();
      return row.getString(1);
    }
  }

  /** The number of rows changed; 0 for a statement that counts none. */
  public static int execute(Connection connection, String sql, Object... args) throws SQLException {
    try (PreparedStatement statement = prepare(connection, sql, args)) {
      statement.execute();
      return Math.max(0, statement.getUpdateCount());
    }
  }

  /** The server process behind a connection. */
  public static int pid(Connection connection) throws SQLException {
    return Math.toIntExact(query(connection, "SELECT pg_backend_pid()"));
  }

  private static PreparedStatement prepare(Connection connection, String sql, Object... args)
      throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    for (int i = 0; i < args.length; i++) {
      statement.setObject(i + 1, args[i]);
    }
    return statement;
  }
}
