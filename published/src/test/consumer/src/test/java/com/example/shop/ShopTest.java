package com.example.shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.lockstep.ledger.AccountId;
import dev.lockstep.ledger.LedgerCommand.Move;
import dev.lockstep.ledger.Money;
import dev.lockstep.ledger.TransferId;
import dev.lockstep.migration.Migrations;
import dev.lockstep.once.OnceResult.Completed;
import dev.lockstep.outbox.RelayConfig;
import dev.lockstep.outbox.SinkTypes;
import dev.lockstep.testkit.TestDatabase;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

// snippet: test
class ShopTest {
  static final long ANN = 100;

  @RegisterExtension static final TestDatabase database = TestDatabase.empty();

  @Test
  void aShirtIsPaidForOnceAndShipped() throws Exception {
    Migrations.apply(database.dataSource());
    CountDownLatch shipped = new CountDownLatch(1);
    try (Shop shop = new Shop(database.dataSource())) {
      shop.open(ANN);
      Money pocketMoney = new Money(30_00, "EUR");
      shop.ledger.call(
          new Move(Shop.BOOK, TransferId.next(), Shop.BANK, new AccountId(ANN), pocketMoney));

      assertEquals(new Completed(Shop.SOLD, false), shop.buy(ANN, 1));
      assertEquals(new Completed(Shop.SOLD, true), shop.buy(ANN, 1));
      assertThrows(IllegalStateException.class, () -> shop.buy(ANN, 2));

      var shirts = shop.holds.pools(Shop.SALE).get(0).counts();
      assertEquals(1, shirts.sold());
      assertEquals(0, shirts.held());
      assertEquals(25_00, shop.ledger.account(Shop.BOOK, Shop.TILL).orElseThrow().balance());
      assertEquals(1, shop.outbox.events("orders", "100", 0, 10).size());
      try (var worker = shop.startWorker(order -> shipped.countDown());
          var relay = shop.outbox.relay(RelayConfig.named("node-1"), SinkTypes.standard())) {
        assertEquals(true, shipped.await(30, TimeUnit.SECONDS));
      }
    }
  }
}
// end: test
