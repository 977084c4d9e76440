package dev.lockstep.server;

import dev.lockstep.hold.Hold;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.server.account.SaleBooks;
import dev.lockstep.server.draw.Draws;
import dev.lockstep.server.metric.PurchaseFigures;
import dev.lockstep.server.purchase.PurchaseEnd;
import dev.lockstep.server.purchase.SaleListener;
import dev.lockstep.server.purchase.SaleMoney;
import dev.lockstep.server.saleevent.SaleEvents;
import dev.lockstep.sql.Exchange;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Joins the selling transaction: books, then events, then the draw; metrics after the commit. */
record SaleHooks(SaleBooks books, SaleEvents events, Draws draws, PurchaseFigures figures)
    implements SaleListener {
  @Override
  public void moneyMoved(Exchange exchange, long campaign, List<SaleMoney> moved)
      throws SQLException {
    books.post(exchange, campaign, moved.stream().map(SaleHooks::booked).toList());
  }

  private static SaleBooks.Movement booked(SaleMoney money) {
    return new SaleBooks.Movement(
        money.purchase(),
        money.amount().amount(),
        money.amount().currency(),
        money.refunded(),
        money.part());
  }

  @Override
  public void ending(Exchange exchange, long campaign, List<PurchaseEnd> ends) throws SQLException {
    events.ending(exchange, campaign, ends);
  }

  @Override
  public void sold(Exchange exchange, List<Ended> sold) throws SQLException {
    events.sold(exchange, sold);
    draws.afterSales(exchange, sold);
  }

  @Override
  public boolean mayComeBack(Connection connection, List<Hold> returned) throws SQLException {
    return draws.mayComeBack(connection, returned);
  }

  @Override
  public void committed(Ended sale) {
    figures.sold(sale.hold().quantity());
  }

  @Override
  public void ended(String status) {
    figures.ended(status);
  }

  @Override
  public void mismatched(String kind) {
    figures.mismatched(kind);
  }
}
