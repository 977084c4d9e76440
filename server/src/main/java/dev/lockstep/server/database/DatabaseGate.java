package dev.lockstep.server.database;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.ConnectionBuilder;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.function.BooleanSupplier;
import java.util.logging.Logger;
import javax.sql.DataSource;

/**
 * A pool that refuses connections at once while its database is known to be gone, instead of after
 * the pool's timeout.
 */
final class DatabaseGate implements DataSource {
  private final DataSource pool;
  private final BooleanSupplier gone;

  DatabaseGate(DataSource pool, BooleanSupplier gone) {
    this.pool = pool;
    this.gone = gone;
  }

  @Override
  public Connection getConnection() throws SQLException {
    requireThere();
    return pool.getConnection();
  }

  @Override
  public Connection getConnection(String user, String password) throws SQLException {
    requireThere();
    return pool.getConnection(user, password);
  }

  private void requireThere() throws SQLException {
    if (gone.getAsBoolean()) {
      throw new SQLTransientConnectionException("The database does not answer");
    }
  }

  @Override
  public ConnectionBuilder createConnectionBuilder() throws SQLException {
    return pool.createConnectionBuilder();
  }

  @Override
  public PrintWriter getLogWriter() throws SQLException {
    return pool.getLogWriter();
  }

  @Override
  public void setLogWriter(PrintWriter out) throws SQLException {
    pool.setLogWriter(out);
  }

  @Override
  public void setLoginTimeout(int seconds) throws SQLException {
    pool.setLoginTimeout(seconds);
  }

  @Override
  public int getLoginTimeout() throws SQLException {
    return pool.getLoginTimeout();
  }

  @Override
  public Logger getParentLogger() {
    return Logger.getLogger(Logger.GLOBAL_LOGGER_NAME);
  }

  @Override
  public <T> T unwrap(Class<T> type) throws SQLException {
    return pool.unwrap(type);
  }

  @Override
  public boolean isWrapperFor(Class<?> type) throws SQLException {
    return pool.isWrapperFor(type);
  }
}
