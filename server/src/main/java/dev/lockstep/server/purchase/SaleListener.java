package dev.lockstep.server.purchase;

import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.sql.Exchange;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Something else that happens in the transaction that sells. */
@FunctionalInterface
public interface SaleListener {
  /**
   * Called once a batch, after stock and purchases are written and before COMMIT, perhaps again
   * when the transaction is retried. It writes in bulk, commits nothing, and what it throws fails
   * the sale.
   *
   * @param sold the holds of one campaign that became sold in this transaction, with the counts of
   *     their pools right after
   */
  void sold(Exchange exchange, List<Ended> sold) throws SQLException;

  /**
   * Called once a batch, before COMMIT, when goods of refunded purchases are about to come back.
   * What it locks comes after stock and purchases.
   *
   * @return false: something rests on the sale, and they stay sold
   */
  default boolean mayComeBack(Connection connection, List<Ended> returned) throws SQLException {
    return true;
  }

  /**
   * Called once a batch, after the purchases are written and before all else, perhaps again when
   * the transaction is retried: what buyers of one campaign have paid, and what they have got back.
   * The same may be told twice. It writes in bulk, commits nothing, and what it throws fails the
   * step.
   */
  default void moneyMoved(Exchange exchange, long campaign, List<SaleMoney> moved)
      throws SQLException {}

  /**
   * Called once a batch, after {@link #moneyMoved} and before {@link #sold} and {@link
   * #mayComeBack}, perhaps again when the transaction is retried: purchases of one campaign that
   * have come to an end, in their order. It writes in bulk, commits nothing, and what it throws
   * fails the step.
   */
  default void ending(Exchange exchange, long campaign, List<PurchaseEnd> ends)
      throws SQLException {}

  /** Called once a sale, after its transaction has committed. Must be quick, and must not throw. */
  default void committed(Ended sale) {}

  /**
   * Called after the transaction that ended a purchase has committed, whether an answer, an event
   * or a timer led to it. Must be quick, and must not throw.
   *
   * @param status completed, failed, expired or refunded
   */
  default void ended(String status) {}

  /**
   * Called after it was written down that the provider says something of a purchase's money that
   * does not agree with it. Must be quick, and must not throw.
   *
   * @param kind what does not agree
   */
  default void mismatched(String kind) {}
}
