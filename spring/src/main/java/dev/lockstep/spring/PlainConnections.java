package dev.lockstep.spring;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * The application's pool as Lockstep needs it for transactions of its own: connections that know
 * nothing of Spring's transactions and begin in auto-commit mode, even if the pool turns that off.
 */
public final class PlainConnections extends DelegatingDataSource {
  public PlainConnections(DataSource pool) {
    super(SpringHostTransactions.target(pool));
  }

  @Override
  public Connection getConnection() throws SQLException {
    Connection connection = super.getConnection();
    if (!connection.getAutoCommit()) {
      try {
        connection.setAutoCommit(true);
      } catch (SQLException e) {
        connection.close();
        throw e;
      }
    }
    return connection;
  }
}
