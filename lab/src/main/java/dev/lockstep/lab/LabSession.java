package dev.lockstep.lab;

import dev.lockstep.tx.Isolation;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A connection and its only thread. Runs steps one after another; their outcomes, good or bad, are
 * values.
 */
final class LabSession implements AutoCloseable {
  private final Connection connection;
  private final int pid;
  private final ExecutorService thread;

  LabSession(Connection connection, String name) throws SQLException {
    this.connection = connection;
    this.pid = pidOf(connection);
    this.thread =
        Executors.newSingleThreadExecutor(
            work -> {
              Thread made = new Thread(work, "lockstep-lab-" + name);
              made.setDaemon(true);
              return made;
            });
  }

  int pid() {
    return pid;
  }

  <T> CompletableFuture<T> submit(Callable<T> work) {
    CompletableFuture<T> result = new CompletableFuture<>();
    thread.execute(
        () -> {
          try {
            result.complete(work.call());
          } catch (Exception | Error e) {
            result.completeExceptionally(e);
          }
        });
    return result;
  }

  /** Only on the session's thread. */
  Outcome send(String sql, List<Object> parameters) {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < parameters.size(); i++) {
        statement.setObject(i + 1, parameters.get(i));
      }
      if (statement.execute()) {
        return rows(statement.getResultSet());
      }
      int changed = statement.getUpdateCount();
      return returnsACount(sql) ? new Outcome.Changed(changed) : new Outcome.Done();
    } catch (SQLException e) {
      return failed(e);
    }
  }

  /** Only on the session's thread. */
  Outcome code(ScriptStep.Code code, Isolation isolation) {
    try {
      return code.run(connection, isolation);
    } catch (SQLException e) {
      return failed(e);
    }
  }

  /**
   * Matches the driver's mode to the transaction that SQL began: Lockstep's code refuses an
   * auto-commit connection. Changing the mode sends nothing.
   */
  void inTransaction(boolean open) throws SQLException {
    connection.setAutoCommit(!open);
  }

  /** Clears everything that a run left in the session. */
  void reset() throws SQLException {
    if (!connection.getAutoCommit()) {
      connection.rollback();
      connection.setAutoCommit(true);
    }
    try (Statement statement = connection.createStatement()) {
      statement.execute("DISCARD ALL");
    }
  }

  /** Closes at once, even while a statement runs. */
  @Override
  public void close() {
    thread.shutdown();
    try {
      connection.abort(Runnable::run);
    } catch (SQLException e) {
      // Already gone.
    }
  }

  static Outcome.Rows rows(ResultSet found) throws SQLException {
    ResultSetMetaData about = found.getMetaData();
    List<String> columns = new ArrayList<>();
    for (int i = 1; i <= about.getColumnCount(); i++) {
      columns.add(about.getColumnLabel(i));
    }
    List<List<String>> rows = new ArrayList<>();
    while (found.next()) {
      List<String> row = new ArrayList<>();
      for (int i = 1; i <= columns.size(); i++) {
        String value = found.getString(i);
        row.add(value == null ? "NULL" : value);
      }
      rows.add(row);
    }
    return new Outcome.Rows(columns, rows);
  }

  /** The message is for display only; the driver puts details on further lines. */
  static Outcome.Failed failed(SQLException e) {
    String state = e.getSQLState();
    String message = e.getMessage() == null ? "no message" : e.getMessage();
    return new Outcome.Failed(
        state == null ? "?????" : state,
        message.lines().findFirst().orElse("").replaceFirst("^(ERROR|FATAL): ", ""));
  }

  private static int pidOf(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
      row.next();
      return row.getInt(1);
    }
  }

  private static boolean returnsACount(String sql) {
    return sql.startsWith("UPDATE") || sql.startsWith("INSERT") || sql.startsWith("DELETE");
  }
}
