package dev.lockstep.tx;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What is made sure of before a connection that a DataSource handed out is used, and after. */
final class HandedOut {
  private static final String WAYS_OUT =
      "Run in that transaction with on(connection, work), or give the Transactor a plain DataSource"
          + " whose connections are in auto-commit mode";

  private static final Logger log = LoggerFactory.getLogger(HandedOut.class);

  private HandedOut() {}

  /**
   * Refuses a connection that may be in somebody else's transaction. Such a DataSource (Spring's
   * {@code TransactionAwareDataSourceProxy} is one) hands out the connection of the transaction
   * that the thread is in: to commit, to roll back or to change auto-commit would end what is not
   * ours. Before its first statement such a transaction can not be told from a connection that is
   * not in auto-commit mode for any other reason.
   *
   * @param manualCommit the connections are nobody's, though they are not in auto-commit mode: then
   *     only one with a transaction in progress is refused
   * @throws IllegalStateException if it is refused; nothing was sent, and nothing changed
   */
  static void requireOurs(Connection connection, boolean manualCommit) throws SQLException {
    requireIdle(connection);
    if (!manualCommit && !connection.getAutoCommit()) {
      throw new IllegalStateException(
          "The DataSource handed out a connection that is not in auto-commit mode, which may belong"
              + " to a transaction of somebody else's that has sent nothing yet. "
              + WAYS_OUT
              + "; if its pool is configured without auto-commit and nobody else uses its"
              + " connections, make the Transactor with Transactor.onManualCommitPool");
    }
  }

  /**
   * JDBC has no question for a transaction in progress, but a call that a driver must refuse then,
   * and that neither changes nor sends anything where it is set to what it is.
   */
  private static void requireIdle(Connection connection) throws SQLException {
    try {
      connection.setReadOnly(connection.isReadOnly());
    } catch (SQLException e) {
      if (SqlFault.saysInTransaction(e)) {
        throw new IllegalStateException(
            "The DataSource handed out a connection with a transaction in progress, which is for"
                + " somebody else to commit. "
                + WAYS_OUT,
            e);
      }
      throw e;
    }
  }

  /** Never throws. */
  static void restoreAutoCommit(Connection connection, boolean autoCommit) {
    try {
      connection.setAutoCommit(autoCommit);
    } catch (Throwable e) {
      log.debug("Could not restore auto-commit", e);
    }
  }

  /** Never throws: the pool tests what it gets back and drops a broken connection. */
  static void close(Connection connection) {
    try {
      connection.close();
    } catch (Throwable e) {
      log.debug("Could not close a connection", e);
    }
  }

  /** Never throws: whatever is on it is rolled back, and no pool hands it out again. */
  static void discard(Connection connection) {
    try {
      connection.abort(Runnable::run);
    } catch (Throwable e) {
      log.warn("Could not abort a connection that is of no use any more", e);
    }
  }

  /**
   * Refuses a connection to a standby, and ends it, so that its pool does not hand it out again. A
   * standby may lag: what it does not have yet may have been committed all the same.
   *
   * @throws SQLException as {@link SqlFault#READ_ONLY}
   */
  static void requirePrimary(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT pg_is_in_recovery()")) {
      row.next();
      if (!row.getBoolean(1)) {
        return;
      }
    }
    discard(connection);
    throw SqlFault.standby("The server is a standby, and may not know yet", null);
  }
}
