package dev.lockstep.postgres;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Statements on a server, each on a connection of its own. */
final class Sql {

  private Sql() {}

  static Connection connect(PostgresServer server) throws SQLException {
    return DriverManager.getConnection(server.url(), server.user(), server.password());
  }

  static void execute(PostgresServer server, String sql) throws SQLException {
    try (Connection connection = connect(server);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  static String value(PostgresServer server, String query) throws SQLException {
    try (Connection connection = connect(server);
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      row.next();
      return row.getString(1);
    }
  }
}
