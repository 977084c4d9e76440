package dev.lockstep.tx;

import java.sql.SQLException;
import java.util.List;

/**
 * What is done at the end of a transaction, for everything that was left for it on the way: see
 * {@link Transactor#leave}. Like other work it may run several times, once for each attempt.
 */
@FunctionalInterface
public interface LastWork<T> {
  /**
   * Hands its last statements to {@link Exchange#putOff}, so that they share a crossing of the
   * network with COMMIT. What it throws rolls the transaction back.
   *
   * @param left in the order in which it was left; at least one
   */
  void run(Exchange exchange, List<T> left) throws SQLException;
}
