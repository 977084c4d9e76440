package dev.lockstep.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.ledger.AccountId;
import dev.lockstep.ledger.BookId;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.ledger.LedgerCommand.Linked;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.LedgerCommand.Post;
import dev.lockstep.ledger.LedgerCommand.Reserve;
import dev.lockstep.ledger.LedgerOutcome.InsufficientFunds;
import dev.lockstep.ledger.LedgerOutcome.TransferDone;
import dev.lockstep.ledger.LinkedResult;
import dev.lockstep.ledger.Money;
import dev.lockstep.ledger.NewAccount;
import dev.lockstep.ledger.TransferEndResult;
import dev.lockstep.ledger.TransferId;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The ledger's examples, run. */
class LedgerExampleTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  // snippet: open
  static final BookId SHOP = new BookId(1);
  static final AccountId BANK = new AccountId(1);
  static final AccountId ANN = new AccountId(2);
  static final AccountId SHOP_TILL = new AccountId(3);

  static void open(Ledger ledger) {
    ledger.openBook(SHOP);
    ledger.openAccounts(
        SHOP,
        List.of(
            NewAccount.withoutFloor(BANK, "the world outside", "JPY"),
            NewAccount.of(ANN, "Ann's purse", "JPY"), // never below 0
            NewAccount.withCreditLine(SHOP_TILL, "the till", "JPY", 5_000)));
  }

  // end: open

  // snippet: move
  /** The same key again: the same answer, and the money has moved once. */
  static CompletionStage<String> pay(Ledger ledger, String idempotencyKey, long amount) {
    TransferId id = TransferId.forKey("ann", idempotencyKey);
    return ledger
        .submit(new Move(SHOP, id, ANN, SHOP_TILL, new Money(amount, "JPY")))
        .thenApply(
            result -> {
              if (result instanceof TransferDone done) {
                return "paid " + done.transfer().posted();
              }
              return result instanceof InsufficientFunds lack
                  ? "only " + lack.available() + " left"
                  : "not now: " + result;
            });
  }

  // end: move

  // snippet: reserve
  /** Sets 1,000 aside for ten minutes, then takes 800 of it; the rest is Ann's again. */
  static TransferEndResult fillUpAndPay(Ledger ledger, TransferId id) {
    ledger.call(
        new Reserve(SHOP, id, ANN, SHOP_TILL, new Money(1_000, "JPY"), Duration.ofMinutes(10)));
    return ledger.call(new Post(SHOP, id, OptionalLong.of(800)));
  }

  // end: reserve

  // snippet: linked
  /** In your own transaction: the transfers and whatever else you write commit together. */
  static LinkedResult payAndTip(Ledger ledger, Connection connection, long price, long tip) {
    return ledger.join(
        connection,
        new Linked(
            SHOP,
            List.of(
                new Move(SHOP, TransferId.next(), ANN, SHOP_TILL, new Money(price, "JPY")),
                new Move(SHOP, TransferId.next(), ANN, SHOP_TILL, new Money(tip, "JPY")))));
  }

  // end: linked

  @Test
  void annPaysReservesAndTips() {
    Transactor transactor = new Transactor(database.dataSource());
    try (Ledger ledger = new Ledger(transactor)) {
      open(ledger);
      Money pocketMoney = new Money(3_000, "JPY");
      ledger.call(new Move(SHOP, TransferId.next(), BANK, ANN, pocketMoney));

      assertThat(pay(ledger, "a", 500).toCompletableFuture().join()).isEqualTo("paid 500");
      assertThat(pay(ledger, "a", 500).toCompletableFuture().join()).isEqualTo("paid 500");
      assertThat(pay(ledger, "b", 2_501).toCompletableFuture().join()).isEqualTo("only 2500 left");
      assertThat(fillUpAndPay(ledger, TransferId.next())).isInstanceOf(TransferDone.class);
      transactor.run(connection -> payAndTip(ledger, connection, 1_500, 200));

      assertThat(ledger.account(SHOP, ANN).orElseThrow().balance()).isZero();
      assertThat(ledger.account(SHOP, SHOP_TILL).orElseThrow().balance()).isEqualTo(3_000);
    }
  }
}
