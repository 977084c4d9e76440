package dev.lockstep.server;

import static dev.lockstep.server.Client.order;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.gateway.GatewayFaults;
import dev.lockstep.gateway.GatewayFaults.Answers;
import dev.lockstep.gateway.TestGateway;
import dev.lockstep.hold.Actor;
import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldCommand;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Confirm;
import dev.lockstep.hold.HoldCommand.Release;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.Line;
import dev.lockstep.hold.NewPool;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.server.Client.Reply;
import dev.lockstep.server.payment.Money;
import dev.lockstep.server.payment.PaymentKey;
import dev.lockstep.server.payment.PaymentRequest;
import dev.lockstep.server.payment.PaymentResult.Succeeded;
import dev.lockstep.server.payment.Payments;
import dev.lockstep.server.payment.PaymentsConfig;
import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * G5: money and goods never part, whatever the provider does. Next to it the checkout that most
 * people would write, which loses money at the first lost answer.
 */
@Timeout(120)
class MoneyAndGoodsAgreeTest {
  @RegisterExtension static final RunningServer server = new RunningServer(RunningServer.PAYMENTS);

  @RegisterExtension static final TestDatabase naive = TestDatabase.migrated();

  private static final GatewayFaults EVERYTHING =
      GatewayFaults.NONE
          .withDeclineRate(0.2)
          .withAnswers(new Answers(0.15, 0.15, 0.1, Duration.ZERO, 0.1))
          .withWebhooks(new GatewayFaults.Webhooks(0.5, Duration.ofMillis(300), 0.3));

  @Test
  void twoNodesAndEveryFaultAtOnceLeaveNobodyChargedForNothing() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(30, null);
    try (Server other = server.start(false)) {
      Client elsewhere = new Client(other.url(), shop.key());
      server.gateway().setFaults(EVERYTHING);
      other.gateway().orElseThrow().setFaults(EVERYTHING);

      List<Reply> replies =
          Race.<Reply>of(60)
              .run(
                  i -> {
                    Client tab = i % 2 == 0 ? shop : elsewhere;
                    Reply reply =
                        tab.post(
                            "/v1/campaigns/" + campaign + "/purchases",
                            "k" + i,
                            order("b" + i, "pm_card_visa", sku("A", 1)));
                    return reply.status() == 402 ? anotherCard(shop, elsewhere, reply, i) : reply;
                  })
              .valuesOrThrow();

      assertThat(replies).allSatisfy(r -> assertThat(r.status()).isIn(200, 201, 202, 402, 409));
      server.gateway().setFaults(GatewayFaults.NONE);
      other.gateway().orElseThrow().setFaults(GatewayFaults.NONE);
      Await.until("all others have given up", () -> giveUp(shop, campaign));
      String open =
          "SELECT count(*) FROM lockstep_server.purchase WHERE status IN (0, 1, 5, 7) AND campaign"
              + " = "
              + campaign;
      Await.until("every purchase has ended", () -> server.database().queryLong(open) == 0);
    }
    MoneyAndGoods books = MoneyAndGoods.in(server, campaign);
    books.agree(books.charged());
    JsonObject stock = server.anyone().get("/v1/campaigns/" + campaign).expect(200);
    assertThat(stock.getInteger("sold")).isEqualTo(books.charged());
    assertThat(stock.getInteger("held")).isZero();
  }

  /** The buyer tries another card in two tabs, which are on different nodes. */
  private static Reply anotherCard(Client one, Client other, Reply declined, int buyer)
      throws Exception {
    JsonObject purchase = declined.json().getJsonObject("purchase");
    if (!purchase.getString("status").equals("requiresPaymentMethod")) {
      return declined;
    }
    String path = "/v1/purchases/" + purchase.getString("id") + "/pay";
    JsonObject card = new JsonObject().put("paymentMethod", "pm_card_visa");
    CompletableFuture<Reply> tab =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return other.post(path, "tab-" + buyer, card);
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            });
    Reply reply = one.post(path, "again-" + buyer, card);
    tab.get();
    return reply;
  }

  private static boolean giveUp(Client shop, String campaign) throws Exception {
    JsonArray declined =
        shop.get("/v1/purchases?limit=1000&status=requiresPaymentMethod&campaign=" + campaign)
            .expect(200)
            .getJsonArray("items");
    for (Object one : declined) {
      shop.delete("/v1/purchases/" + ((JsonObject) one).getString("id"));
    }
    long paying =
        server
            .database()
            .queryLong(
                "SELECT count(*) FROM lockstep_server.purchase WHERE status IN (0, 1, 7) AND"
                    + " campaign = "
                    + campaign);
    return paying == 0;
  }

  @Test
  void aCheckoutThatTakesALostAnswerForADeclineChargesForNothing() throws Exception {
    TestGateway.migrate(naive);
    ScopeId sale = new ScopeId(1);
    try (TestGateway provider = TestGateway.start(naive);
        Holds holds = new Holds(new Transactor(naive.dataSource()));
        Payments payments =
            Payments.open(
                provider.vertx(),
                PaymentsConfig.of(provider.url(), TestGateway.KEY).withRetries(0))) {
      holds.createScope(sale, OptionalInt.empty());
      holds.createPools(sale, List.of(NewPool.counted(new PoolId(1), 100)));
      provider.gateway().setFaults(GatewayFaults.NONE.withAnswers(Answers.errorsAfter(0.5)));
      Race.of(40).run(i -> naivePurchase(holds, payments, sale, "buyer-" + i)).valuesOrThrow();

      long charged = naive.queryLong("SELECT count(*) FROM gateway.intent WHERE status = 3");
      long sold = naive.queryLong("SELECT sold FROM lockstep.pool WHERE scope = 1");
      assertThat(charged).isEqualTo(40);
      assertThat(sold).as("all have paid, and some got nothing").isLessThan(charged);
    }
  }

  private static boolean naivePurchase(Holds holds, Payments payments, ScopeId sale, String buyer)
      throws Exception {
    HoldId hold = HoldId.next();
    List<Line> lines = List.of(Line.of(new PoolId(1), 1));
    holds
        .submit(Acquire.of(sale, hold, new BuyerId(buyer), lines, Duration.ofMinutes(15)))
        .toCompletableFuture()
        .get();
    boolean paid =
        payments
                .pay(
                    new PaymentRequest(
                        new PaymentKey(buyer), new Money(500, "JPY"), "pm_card_visa", Map.of()))
                .toCompletableFuture()
                .get()
            instanceof Succeeded;
    Actor actor = new Actor(buyer, Optional.empty());
    HoldCommand<?> end = paid ? new Confirm(sale, hold, actor) : new Release(sale, hold, actor);
    holds.submit(end).toCompletableFuture().get();
    return paid;
  }
}
