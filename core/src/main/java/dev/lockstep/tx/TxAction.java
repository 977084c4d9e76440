package dev.lockstep.tx;

import java.sql.Connection;
import java.sql.SQLException;

/** A {@link TxWork} without a result. */
@FunctionalInterface
public interface TxAction {
  void run(Connection connection) throws SQLException;
}
