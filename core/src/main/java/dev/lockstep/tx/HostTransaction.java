package dev.lockstep.tx;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * A transaction that the application's framework began on this thread and will end. A Transactor
 * that joins it writes on its connection, and never commits or rolls it back.
 */
public interface HostTransaction {
  /** Returns the transaction's connection. It stays the framework's, which also closes it. */
  Connection connection() throws SQLException;

  /**
   * Keeps the transaction from committing. Work that joined it has failed and may be half done,
   * even if the application swallows the exception. The framework's commit must then fail or roll
   * back. If the framework rolls back to a savepoint from before the failed work, this may end.
   */
  void refuseCommit(Throwable because);

  /**
   * Runs an action on this thread once the transaction has committed; never if it does not. An
   * action that is given several times runs once.
   */
  void afterCommit(Runnable action);
}
