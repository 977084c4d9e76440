package dev.lockstep.server.account;

import dev.lockstep.ledger.AccountId;
import dev.lockstep.ledger.BookId;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.LedgerCommand;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerOutcome;
import dev.lockstep.ledger.LedgerOutcome.Done;
import dev.lockstep.ledger.LedgerOutcome.UnknownAccount;
import dev.lockstep.ledger.Money;
import dev.lockstep.ledger.NewAccount;
import dev.lockstep.ledger.TransferId;
import dev.lockstep.tx.Exchange;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;

/**
 * The books of sales: what buyers paid and what they got back, posted in the transaction that
 * settles the purchase, in the book of the campaign.
 *
 * <p>A book has two accounts from its first sale on: the buyers', which is below zero by what they
 * have paid, and the campaign's takings. Neither has a floor: a sale that is paid must not fail for
 * want of bookkeeping. The transfer of a payment has the id of its purchase, so that it is posted
 * once however often the purchase is settled.
 *
 * <p>Thread-safe.
 */
public final class SaleBooks {
  static final AccountId BUYERS = new AccountId(1);
  static final AccountId TAKINGS = new AccountId(2);

  private final Ledger ledger;

  public SaleBooks(Ledger ledger) {
    this.ledger = ledger;
  }

  /**
   * Money of one purchase that has come in, or gone back.
   *
   * @param refunded it has gone back
   */
  public record Movement(UUID purchase, long amount, String currency, boolean refunded) {
    private Move in(BookId book) {
      TransferId id = refunded ? refundOf(purchase) : new TransferId(purchase);
      Money money = new Money(amount, currency);
      return refunded
          ? new Move(book, id, TAKINGS, BUYERS, money)
          : new Move(book, id, BUYERS, TAKINGS, money);
    }
  }

  /** The transfer that gives a purchase's money back; that of its payment has its own id. */
  public static TransferId refundOf(UUID purchase) {
    return TransferId.forKey("refund", purchase.toString());
  }

  /**
   * Posts movements of one campaign: one round trip, and one that is put off, however many there
   * are. The caller commits.
   *
   * @throws IllegalStateException if one cannot be posted, which fails the whole
   */
  public void post(Exchange exchange, long campaign, List<Movement> movements) throws SQLException {
    if (movements.isEmpty()) {
      return;
    }
    BookId book = new BookId(campaign);
    List<? extends LedgerCommand<?>> moves =
        movements.stream().map(movement -> movement.in(book)).toList();
    List<LedgerOutcome> outcomes = ledger.runAll(exchange, moves);
    if (outcomes.get(0) instanceof UnknownAccount) {
      open(exchange.connection(), book, movements.get(0).currency());
      outcomes = ledger.runAll(exchange, moves);
    }
    for (LedgerOutcome outcome : outcomes) {
      if (!(outcome instanceof Done)) {
        throw new IllegalStateException("A sale cannot be posted: " + outcome);
      }
    }
  }

  private void open(Connection connection, BookId book, String currency) {
    ledger.ensureAccounts(
        connection,
        book,
        List.of(
            NewAccount.withoutFloor(BUYERS, "Buyers", currency),
            NewAccount.withoutFloor(TAKINGS, "Takings", currency)));
  }
}
