package dev.lockstep.sql;

import dev.lockstep.fault.SqlFault;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks a connection before the Transactor uses it, and cleans up after. */
public final class HandedOut {
  private static final String WAYS_OUT =
      "Run in that transaction with join(connection, work), make the Transactor join it (withHost), or"
          + " give it a plain DataSource whose connections are in auto-commit mode";

  private static final Logger log = LoggerFactory.getLogger(HandedOut.class);

  private HandedOut() {}

  /**
   * Refuses a connection that may be in a foreign transaction. A transaction-aware DataSource (such
   * as Spring's {@code TransactionAwareDataSourceProxy}) hands out the connection of the thread's
   * current transaction; committing, rolling back or changing auto-commit would end a transaction
   * that is not ours. Before its first statement such a transaction looks like any connection with
   * auto-commit off.
   *
   * @param manualCommit the pool's connections have auto-commit off and belong to no other code:
   *     refuse only one with a transaction in progress
   * @throws IllegalStateException if it is refused; nothing was sent or changed
   */
  public static void requireOurs(Connection connection, boolean manualCommit) throws SQLException {
    requireIdle(connection);
    if (!manualCommit && !connection.getAutoCommit()) {
      throw new IllegalStateException(
          "The DataSource handed out a connection with auto-commit off, which may belong to a"
              + " transaction of other code that has sent nothing yet. "
              + WAYS_OUT
              + ". If the pool itself turns auto-commit off and no other code uses its connections,"
              + " create the Transactor with Transactor.onManualCommitPool");
    }
  }

  /**
   * JDBC cannot tell whether a transaction is in progress. But a driver must refuse setReadOnly
   * during one, and setting the current value sends and changes nothing.
   */
  private static void requireIdle(Connection connection) throws SQLException {
    try {
      connection.setReadOnly(connection.isReadOnly());
    } catch (SQLException e) {
      if (SqlFault.saysInTransaction(e)) {
        throw new IllegalStateException(
            "The DataSource handed out a connection with a transaction in progress, which other"
                + " code will commit. "
                + WAYS_OUT,
            e);
      }
      throw e;
    }
  }

  /**
   * Refuses a connection that its pool made read-only. BEGIN could make the transaction writable
   * all the same, but whoever configured the pool meant that nothing is written through it.
   *
   * @throws IllegalStateException if it is read-only; nothing was sent
   */
  public static void requireWritable(Connection connection) throws SQLException {
    if (connection.isReadOnly()) {
      throw new IllegalStateException(
          "The DataSource hands out read-only connections; give the Transactor one that may write,"
              + " or call it with TxOptions.asReadOnly()");
    }
  }

  /** Never throws. */
  public static void restoreAutoCommit(Connection connection, boolean autoCommit) {
    try {
      connection.setAutoCommit(autoCommit);
    } catch (Throwable e) {
      log.debug("Could not restore auto-commit", e);
    }
  }

  /** Never throws. The pool tests what it gets back and drops a broken connection. */
  public static void close(Connection connection) {
    try {
      connection.close();
    } catch (Throwable e) {
      log.debug("Could not close a connection", e);
    }
  }

  /** Never throws. Whatever is on the connection rolls back, and no pool hands it out again. */
  public static void discard(Connection connection) {
    try {
      connection.abort(Runnable::run);
    } catch (Throwable e) {
      log.warn("Could not abort a discarded connection", e);
    }
  }

  /**
   * Refuses a connection to a standby and aborts it, so that the pool does not hand it out again. A
   * standby may lag: a change that it does not show may be committed all the same.
   *
   * @throws SQLException as {@link SqlFault#READ_ONLY}
   */
  public static void requirePrimary(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT pg_is_in_recovery()")) {
      row.next();
      if (!row.getBoolean(1)) {
        return;
      }
    }
    discard(connection);
    throw SqlFault.standby("The server is a standby and may lag behind the primary", null);
  }
}
