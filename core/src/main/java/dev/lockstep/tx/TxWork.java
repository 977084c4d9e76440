package dev.lockstep.tx;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * What happens inside a transaction. It may run several times, so its only lasting effects should
 * be those it makes on the connection. It never commits, rolls back or closes the connection.
 */
@FunctionalInterface
public interface TxWork<T> {
  T run(Connection connection) throws SQLException;
}
