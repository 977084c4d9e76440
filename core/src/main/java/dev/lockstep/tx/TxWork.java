package dev.lockstep.tx;

import dev.lockstep.fault.StatementFailed;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * The code to run inside a transaction. It may run several times, so keep lasting effects to the
 * connection. It must not commit, roll back or close the connection: a call whose work ended the
 * transaction itself fails with {@link StatementFailed}.
 */
@FunctionalInterface
public interface TxWork<T> {
  T run(Connection connection) throws SQLException;
}
