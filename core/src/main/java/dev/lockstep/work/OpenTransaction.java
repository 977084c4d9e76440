package dev.lockstep.work;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * A transaction that Lockstep began and commits, given to code of yours that runs inside it. What
 * that code writes commits with the rest, or not at all.
 *
 * <p>Do not commit, roll back or close the connection, and do not keep it after the code returned.
 * Not thread-safe.
 */
@FunctionalInterface
public interface OpenTransaction {
  /** Returns the connection, for statements of any kind. */
  Connection connection() throws SQLException;
}
