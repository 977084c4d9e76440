package dev.lockstep.server.purchase;

import dev.lockstep.hold.Hold;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.sql.Exchange;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Joins the transaction that sells. */
@FunctionalInterface
public interface SaleListener {
  /**
   * Called once per batch, after stock and purchases are written and before COMMIT; again if the
   * transaction is retried. It writes in bulk and must not commit; an exception fails the sale.
   *
   * @param sold the holds of one campaign sold in this transaction, with their pools' counts right
   *     after
   */
  void sold(Exchange exchange, List<Ended> sold) throws SQLException;

  /**
   * Called once per batch, before COMMIT, when goods of refunded purchases are about to come back,
   * all or a part. It locks after stock and purchases.
   *
   * @return false if something, such as a draw, depends on the sale; the goods then stay sold
   */
  default boolean mayComeBack(Connection connection, List<Hold> returned) throws SQLException {
    return true;
  }

  /**
   * Called once per batch, right after the purchases are written, and again if the transaction is
   * retried: what buyers of one campaign have paid and got back. The same movement may be reported
   * twice. It writes in bulk and must not commit; an exception fails the step.
   */
  default void moneyMoved(Exchange exchange, long campaign, List<SaleMoney> moved)
      throws SQLException {}

  /**
   * Called once per batch, between {@link #moneyMoved} and {@link #sold} or {@link #mayComeBack},
   * and again if the transaction is retried: purchases of one campaign that have ended, in order.
   * It writes in bulk and must not commit; an exception fails the step.
   */
  default void ending(Exchange exchange, long campaign, List<PurchaseEnd> ends)
      throws SQLException {}

  /** Called once per sale, after its commit. Must be quick and must not throw. */
  default void committed(Ended sale) {}

  /**
   * Called after the commit that ended a purchase, whether an answer, an event or the timer led to
   * it. Must be quick and must not throw.
   *
   * @param status completed, failed, expired or refunded
   */
  default void ended(String status) {}

  /**
   * Called after a mismatch between provider and purchase is stored. Must be quick and must not
   * throw.
   *
   * @param kind what disagrees
   */
  default void mismatched(String kind) {}
}
