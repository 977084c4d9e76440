package dev.lockstep.tx;

import java.sql.Connection;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * Lets a {@link Transactor} join the transactions of the application's framework: see {@link
 * Transactor#withHost}. One implementation per framework. Thread-safe.
 */
@FunctionalInterface
public interface HostTransactions {
  /** For applications without a framework: there never is a transaction to join. */
  HostTransactions NONE = dataSource -> Optional.empty();

  /**
   * Returns the transaction that the framework has under way on this thread for a DataSource. As
   * long as it is the current one, the answer is the same object every time. While it is suspended,
   * as for a new transaction inside it, it is not current. Empty outside a transaction, even if the
   * framework has a connection for this thread.
   */
  Optional<HostTransaction> current(DataSource dataSource);

  /**
   * Tells the framework of a transaction that a Transactor has begun on this thread, so that the
   * framework's own code joins it.
   */
  default SharedTransaction share(DataSource dataSource, Connection connection) {
    return SharedTransaction.NONE;
  }
}
