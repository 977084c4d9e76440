package dev.lockstep.server;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;

/**
 * Draws as they are often written: the count grows at reservation and stays when a reservation is
 * released; who sells looks without a lock; a session advisory lock on 32 bits keeps nodes apart.
 */
final class NaiveDraw {
  private final Connection connection;

  private NaiveDraw(Connection connection) {
    this.connection = connection;
  }

  /** In tables that live as long as the connection's transaction. */
  static NaiveDraw opened(Connection connection, int positions) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(
          """
          CREATE TEMP TABLE naive_campaign (positions_total int, positions_sold int) ON COMMIT DROP;
          CREATE TEMP TABLE naive_position (id int, status text) ON COMMIT DROP;
          INSERT INTO naive_campaign VALUES (%1$d, 0);
          INSERT INTO naive_position SELECT n, 'available' FROM generate_series(1, %1$d) n"""
              .formatted(positions));
    }
    return new NaiveDraw(connection);
  }

  void reserve(int position) throws SQLException {
    set(position, "reserved");
    run("UPDATE naive_campaign SET positions_sold = positions_sold + 1");
  }

  void release(int position) throws SQLException {
    set(position, "available");
  }

  void pay(int position) throws SQLException {
    set(position, "sold");
  }

  boolean drawIsDue() throws SQLException {
    return number(
            connection,
            "SELECT count(*) FROM naive_campaign WHERE positions_sold >= positions_total")
        == 1;
  }

  long paid() throws SQLException {
    return number(connection, "SELECT count(*) FROM naive_position WHERE status = 'sold'");
  }

  /** Looks at the real pools without the gate. */
  static boolean seesAllSold(Connection connection, String campaign) throws SQLException {
    return number(
            connection,
            "SELECT count(*) FROM lockstep.pool WHERE sold < total AND scope = " + campaign)
        == 0;
  }

  static boolean tryLock(Connection connection, String campaign) throws Exception {
    return advisory(connection, "pg_try_advisory_lock", campaign);
  }

  static boolean unlock(Connection connection, String campaign) throws Exception {
    return advisory(connection, "pg_advisory_unlock", campaign);
  }

  static long backend(Connection connection) throws SQLException {
    return number(connection, "SELECT pg_backend_pid()");
  }

  private static boolean advisory(Connection connection, String function, String campaign)
      throws Exception {
    byte[] md5 = MessageDigest.getInstance("MD5").digest(campaign.getBytes(StandardCharsets.UTF_8));
    long key = HexFormat.fromHexDigitsToLong(HexFormat.of().formatHex(md5).substring(0, 8));
    try (PreparedStatement statement = connection.prepareStatement("SELECT " + function + "(?)")) {
      statement.setLong(1, key);
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        return row.getBoolean(1);
      }
    }
  }

  private void set(int position, String status) throws SQLException {
    run("UPDATE naive_position SET status = '%s' WHERE id = %d".formatted(status, position));
  }

  private void run(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static long number(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }
}
