package dev.lockstep.server.account;

import dev.lockstep.ledger.AccountId;
import dev.lockstep.ledger.BookId;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerOutcome;
import dev.lockstep.ledger.LedgerOutcome.TransferDone;
import dev.lockstep.ledger.LedgerOutcome.TransferIdReused;
import dev.lockstep.ledger.LedgerOutcome.UnknownAccount;
import dev.lockstep.ledger.Money;
import dev.lockstep.ledger.NewAccount;
import dev.lockstep.ledger.TransferId;
import dev.lockstep.sql.Exchange;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * The books of sales: what buyers paid and got back, posted to the campaign's book in the
 * transaction that settles the purchase.
 *
 * <p>From its first sale on, a book has two accounts: the buyers', whose balance is minus what they
 * have paid, and the campaign's takings. Neither has a floor, because bookkeeping must not fail a
 * paid sale. A payment's transfer has its purchase's id, so it is posted once however often the
 * purchase is settled; no caller's key produces such an id. Older versions began purchases under
 * ids that a key can produce: if a caller's transfer already has the id, the payment is posted
 * under another one.
 *
 * <p>Thread-safe.
 */
public final class SaleBooks {
  public static final AccountId BUYERS = new AccountId(1);
  public static final AccountId TAKINGS = new AccountId(2);

  private final Ledger ledger;

  public SaleBooks(Ledger ledger) {
    this.ledger = ledger;
  }

  /**
   * Money of one purchase that came in or went back.
   *
   * @param refunded whether it went back
   * @param part which part went back; 0 for all that was left, and for money that came in
   */
  public record Movement(UUID purchase, long amount, String currency, boolean refunded, int part) {
    private Move in(BookId book) {
      return in(book, refunded ? refundOf(purchase, part) : new TransferId(purchase));
    }

    private Move elsewhere(BookId book) {
      return in(book, TransferId.forPurpose("payment", purchase.toString()));
    }

    private Move in(BookId book, TransferId id) {
      Money money = new Money(amount, currency);
      return refunded
          ? new Move(book, id, TAKINGS, BUYERS, money)
          : new Move(book, id, BUYERS, TAKINGS, money);
    }
  }

  /**
   * The id of the transfer that refunds a purchase; the payment's is the purchase's own.
   *
   * @param part its number; 0: all that was left
   */
  public static TransferId refundOf(UUID purchase, int part) {
    return part == 0
        ? TransferId.forPurpose("refund", purchase.toString())
        : TransferId.forPurpose("refund part " + part, purchase.toString());
  }

  /** The id that older versions used. */
  public static TransferId olderRefundOf(UUID purchase) {
    return TransferId.forKey("refund", purchase.toString());
  }

  /**
   * Posts movements of one campaign, in one immediate and one deferred round trip, however many
   * there are. The caller commits.
   *
   * @throws IllegalStateException if one cannot be posted, which fails all of them
   */
  public void post(Exchange exchange, long campaign, List<Movement> movements) throws SQLException {
    if (movements.isEmpty()) {
      return;
    }
    BookId book = new BookId(campaign);
    List<LedgerOutcome> outcomes =
        run(exchange, movements.stream().map(movement -> movement.in(book)).toList());
    List<Move> taken = new ArrayList<>();
    for (int i = 0; i < outcomes.size(); i++) {
      if (outcomes.get(i) instanceof TransferIdReused && !movements.get(i).refunded()) {
        taken.add(movements.get(i).elsewhere(book));
      } else {
        requireDone(outcomes.get(i));
      }
    }
    if (!taken.isEmpty()) {
      run(exchange, taken).forEach(SaleBooks::requireDone);
    }
  }

  private List<LedgerOutcome> run(Exchange exchange, List<Move> moves) throws SQLException {
    List<LedgerOutcome> outcomes = ledger.joinAll(exchange, moves);
    if (outcomes.stream().noneMatch(UnknownAccount.class::isInstance)) {
      return outcomes;
    }
    Move any = moves.get(0);
    open(exchange.connection(), any.book(), any.money().currency());
    return ledger.joinAll(exchange, moves);
  }

  private static void requireDone(LedgerOutcome outcome) {
    if (!(outcome instanceof TransferDone)) {
      throw new IllegalStateException("A sale cannot be posted: " + outcome);
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
