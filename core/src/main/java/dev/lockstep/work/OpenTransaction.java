package dev.lockstep.work;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * The transaction in which Lockstep calls your code. Write through the connection; Lockstep or its
 * caller commits. Valid only during the call it is passed to. Not thread-safe.
 */
public interface OpenTransaction {
  /** Returns the connection, for statements of any kind. Do not commit, roll back or close it. */
  Connection connection() throws SQLException;
}
