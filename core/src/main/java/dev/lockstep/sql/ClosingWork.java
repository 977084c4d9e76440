package dev.lockstep.sql;

import java.sql.SQLException;
import java.util.List;

/**
 * Work that runs at the end of a transaction with every item left for it: see {@link
 * Transactor#beforeCommit}. Like other work it may run several times, once per attempt.
 */
@FunctionalInterface
public interface ClosingWork<T> {
  /**
   * Writes the items. Pass the last statements to {@link Exchange#defer}, so that they share a
   * round trip with COMMIT. An exception rolls the transaction back.
   *
   * @param left the items in the order they were left; at least one
   */
  void run(Exchange exchange, List<T> left) throws SQLException;
}
