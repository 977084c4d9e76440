package dev.lockstep.work;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * A transaction that Lockstep has begun and will end, as your code sees it: write through the
 * connection, and let Lockstep commit. Valid only during the call it is passed to. Not thread-safe.
 */
public interface OpenTransaction {
  /** Returns the connection, for statements of any kind. Do not commit, roll back or close it. */
  Connection connection() throws SQLException;
}
