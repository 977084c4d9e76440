package dev.lockstep.server;

import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.layer;
import static dev.lockstep.server.Client.order;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.gateway.GatewayFaults;
import dev.lockstep.gateway.GatewayFaults.Answers;
import dev.lockstep.server.Client.Reply;
import dev.lockstep.testkit.Race;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What becomes of a purchase when paying does not simply succeed. */
@Timeout(120)
class PurchaseSagaTest {
  @RegisterExtension static final RunningServer server = new RunningServer(RunningServer.PAYMENTS);

  @AfterEach
  void makeTheGatewayReliableAgain() {
    server.gateway().setFaults(GatewayFaults.NONE);
  }

  @Test
  void aChallengePassedInTimeCompletesThePurchase() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(1, null);
    JsonObject order = order("alice", "pm_card_authenticationRequired", one());

    JsonObject waiting = buy(shop, campaign, "k", order).expect(202);

    assertThat(waiting.getString("status")).isEqualTo("requiresAction");
    assertThat(waiting.getString("clientSecret")).isNotBlank();
    buy(shop, campaign, "k2", order("bob", "pm_card_visa", one())).expectProblem(409, "sold-out");
    pass(waiting, true);
    assertThat(await(shop, waiting, "completed").containsKey("clientSecret")).isFalse();
    Reply again = buy(shop, campaign, "k", order);
    assertThat(again.expect(202)).isEqualTo(waiting);
    assertThat(again.replayed()).isTrue();
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void whenTimeIsUpThePaymentIsCanceledBeforeTheUnitIsFreed() throws Exception {
    Client shop = server.service();
    String campaign = server.published(RunningServer.dropOf(1).put("holdSeconds", 1));
    JsonObject waiting =
        buy(shop, campaign, "k", order("alice", "pm_card_authenticationRequired", one()))
            .expect(202);

    JsonObject expired = await(shop, waiting, "expired");

    assertThat(expired.getJsonObject("payment").getString("status")).isEqualTo("canceled");
    assertThat(intentStatus(waiting)).isEqualTo(CANCELED);
    pass(waiting, true);
    buy(shop, campaign, "k2", order("bob", "pm_card_visa", one())).expect(201);
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void aHoldThatIsBeingPaidForOutlivesItsTimeUntilThePaymentIsCanceled() throws Exception {
    Client shop = server.service();
    String campaign = server.published(RunningServer.dropOf(1).put("holdSeconds", 1));
    JsonObject pending = paidButUnanswered(shop, campaign, order("alice", "pm_card_visa", one()));

    // Its second is over by now: the server has waited two for the answer.
    awaitExpiring(pending);
    buy(shop, campaign, "k2", order("bob", "pm_card_visa", one())).expectProblem(409, "sold-out");
    server.gateway().setFaults(GatewayFaults.NONE);

    // It had been paid, so it could not be canceled any more.
    await(shop, pending, "completed");
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void aLostAnswerIsAskedForAgainAndChargedOnce() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(5, null);
    JsonObject order = order("alice", "pm_card_visa", one());
    server
        .gateway()
        .setFaults(
            GatewayFaults.NONE
                .withAnswers(Answers.errorsAfter(1))
                .withWebhooks(GatewayFaults.Webhooks.delayed(Duration.ofSeconds(20))));

    JsonObject pending = buy(shop, campaign, "k", order).expect(202);
    assertThat(pending.getString("status")).isEqualTo("pending");
    server.gateway().setFaults(GatewayFaults.NONE);

    JsonObject completed = await(shop, pending, "completed");
    Reply again = buy(shop, campaign, "k", order);
    assertThat(again.expect(201)).isEqualTo(completed);
    assertThat(again.replayed()).isTrue();
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void whoPaidTooLateGetsTheSameUnitIfItIsFree() throws Exception {
    Client shop = server.service();
    String campaign = server.triangle(3, null);
    JsonObject pending = paidButUnanswered(shop, campaign, order("alice", 2, "pm_card_visa"));
    server.endHoldOf(pending);

    server.gateway().setFaults(GatewayFaults.NONE);

    JsonObject completed = await(shop, pending, "completed");
    assertThat(completed.getJsonArray("positions")).isEqualTo(pending.getJsonArray("positions"));
    assertThat(completed.getString("hold")).isNotEqualTo(pending.getString("hold"));
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void whoPaidTooLateGetsAnotherUnitOfTheLayerIfTheirsIsGone() throws Exception {
    Client shop = server.service();
    String campaign = server.triangle(3, null);
    JsonObject pending = paidButUnanswered(shop, campaign, order("alice", 3, "pm_card_visa"));
    server.endHoldOf(pending);
    // Fresh positions go first, so the third hold takes the one that came back.
    String others = hold(shop, campaign, "h1", cart("bob", layer(3, 2)));
    String hers = hold(shop, campaign, "h2", cart("carol", layer(3, 1)));
    assertThat(
            shop.get("/v1/holds/" + hers)
                .expect(200)
                .getJsonArray("items")
                .getJsonObject(0)
                .getJsonArray("positions"))
        .isEqualTo(pending.getJsonArray("positions"));
    shop.delete("/v1/holds/" + others).expect(200);

    server.gateway().setFaults(GatewayFaults.NONE);

    JsonObject completed = await(shop, pending, "completed");
    JsonObject position = completed.getJsonArray("positions").getJsonObject(0);
    assertThat(position).isNotEqualTo(pending.getJsonArray("positions").getJsonObject(0));
    assertThat(position.getInteger("layer")).isEqualTo(3);
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void whoPaidTooLateGetsTheMoneyBackIfNothingIsLeft() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(1, null);
    JsonObject order = order("alice", "pm_card_visa", one());
    JsonObject pending = paidButUnanswered(shop, campaign, order);
    server.endHoldOf(pending);
    String bobs = hold(shop, campaign, "h", cart("bob", one()));

    server.gateway().setFaults(GatewayFaults.NONE);

    await(shop, pending, "refunded");
    JsonObject problem = buy(shop, campaign, "k", order).expectProblem(402, "payment-failed");
    assertThat(problem.getString("code")).isEqualTo("paid_late");
    shop.post(
            "/v1/holds/" + bobs + "/checkout",
            "c",
            new JsonObject().put("paymentMethod", "pm_card_visa"))
        .expect(201);
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void aCartThatIsBeingPaidForCannotBeChanged() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(10, null);
    String hold = hold(shop, campaign, "h", cart("alice", one()));
    String path = "/v1/holds/" + hold;
    JsonObject challenge = new JsonObject().put("paymentMethod", "pm_card_authenticationRequired");
    JsonObject waiting = shop.post(path + "/checkout", "c", challenge).expect(202);

    assertThat(shop.get(path).expect(200).getString("expiresAt"))
        .isEqualTo(waiting.getString("expiresAt"));
    JsonObject more = new JsonObject().put("items", cart("", sku("A", 5)).getJsonArray("items"));
    shop.put(path, more).expectProblem(409, "hold-in-checkout");
    shop.delete(path).expectProblem(409, "hold-in-checkout");
    shop.post(path + "/checkout", "c2", challenge).expectProblem(409, "hold-in-checkout");

    pass(waiting, true);
    await(shop, waiting, "completed");
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  /** Of a change and a checkout that come together, whoever is first decides what is paid for. */
  @Test
  void whatIsPaidForIsWhatIsBoughtHoweverACartIsChangedMeanwhile() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(1_000, null);
    JsonObject card = new JsonObject().put("paymentMethod", "pm_card_visa");
    JsonObject five = new JsonObject().put("items", cart("", sku("A", 5)).getJsonArray("items"));
    for (int round = 0; round < 10; round++) {
      String hold = hold(shop, campaign, "h" + round, cart("alice", one()));
      String key = "c" + round;
      Race.<Reply>of(4)
          .run(
              i ->
                  i == 0
                      ? shop.post("/v1/holds/" + hold + "/checkout", key, card)
                      : shop.put("/v1/holds/" + hold, five))
          .valuesOrThrow();
      JsonObject bought = shop.post("/v1/holds/" + hold + "/checkout", key, card).expect(201);
      int quantity =
          shop.get("/v1/holds/" + hold)
              .expect(200)
              .getJsonArray("items")
              .getJsonObject(0)
              .getInteger("quantity");
      assertThat(bought.getJsonObject("total").getInteger("amount")).isEqualTo(250 * quantity);
    }
    MoneyAndGoods.in(server, campaign).agree(10);
  }

  @Test
  void aCompletedPurchaseIsRefundedOnceAndItsUnitIsForSaleAgain() throws Exception {
    Client shop = server.service();
    Client operator = server.operator();
    String campaign = server.drop(1, 1);
    String id =
        buy(shop, campaign, "k", order("alice", "pm_card_visa", one())).expect(201).getString("id");
    String path = "/v1/purchases/" + id + "/refund";

    List<Reply> replies =
        Race.<Reply>of(5).run(i -> operator.post(path, "r", null)).valuesOrThrow();

    assertThat(replies).allSatisfy(reply -> assertThat(reply.status()).isIn(200, 202, 409));
    JsonObject refunded = await(shop, new JsonObject().put("id", id), "refunded");
    Reply again = operator.post(path, "r", null);
    assertThat(again.expect(200)).isEqualTo(refunded);
    assertThat(again.replayed()).isTrue();
    operator.post(path, "r2", null).expectProblem(409, "not-refundable");
    operator
        .post(
            "/v1/purchases/" + campaign + ".00000000-0000-8000-8000-000000000000/refund",
            "r3",
            null)
        .expectProblem(404, "not-found");
    JsonObject stock = server.anyone().get("/v1/campaigns/" + campaign).expect(200);
    assertThat(stock.getInteger("sold")).isZero();
    assertThat(stock.getInteger("free")).isEqualTo(1);
    JsonObject hold = shop.get("/v1/holds/" + refunded.getString("hold")).expect(200);
    assertThat(hold.getString("state")).isEqualTo("returned");
    assertThat(
            count(
                "gateway.refund r JOIN gateway.intent i ON i.id = r.intent"
                    + " WHERE i.metadata::json ->> 'purchase' = '"
                    + id
                    + "'"))
        .isEqualTo(1);
    // Also by the buyer who had it, whose limit is not used up any more.
    buy(shop, campaign, "k2", order("alice", "pm_card_visa", one())).expect(201);
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void aRefundWhoseAnswerIsLostIsDoneOnce() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(5, null);
    JsonObject bought = buy(shop, campaign, "k", order("alice", "pm_card_visa", one())).expect(201);
    server.gateway().setFaults(GatewayFaults.NONE.withAnswers(Answers.errorsAfter(1)));

    JsonObject refunding =
        server
            .operator()
            .post("/v1/purchases/" + bought.getString("id") + "/refund", "r", null)
            .expect(202);
    assertThat(refunding.getString("status")).isEqualTo("refunding");
    server.gateway().setFaults(GatewayFaults.NONE);

    await(shop, bought, "refunded");
    MoneyAndGoods.in(server, campaign).agree(0);
  }

  private static final int CANCELED = 4;

  private static JsonObject one() {
    return sku("A", 1);
  }

  private static Reply buy(Client client, String campaign, String key, JsonObject order)
      throws Exception {
    return client.post("/v1/campaigns/" + campaign + "/purchases", key, order);
  }

  private static String hold(Client shop, String campaign, String key, JsonObject cart)
      throws Exception {
    return shop.post("/v1/campaigns/" + campaign + "/holds", key, cart).expect(201).getString("id");
  }

  /** The gateway has the money, and its answer is lost for as long as its faults are on. */
  private static JsonObject paidButUnanswered(Client shop, String campaign, JsonObject order)
      throws Exception {
    server
        .gateway()
        .setFaults(
            GatewayFaults.NONE
                .withAnswers(Answers.never(1))
                .withWebhooks(GatewayFaults.Webhooks.delayed(Duration.ofSeconds(20))));
    return buy(shop, campaign, "k", order).expect(202);
  }

  private static void pass(JsonObject waiting, boolean passed) throws Exception {
    server
        .gateway()
        .authenticate(waiting.getJsonObject("payment").getString("id"), passed)
        .toCompletableFuture()
        .get();
  }

  private static JsonObject await(Client client, JsonObject purchase, String status)
      throws Exception {
    String path = "/v1/purchases/" + purchase.getString("id");
    Await.until(
        "the purchase is " + status,
        () -> client.get(path).expect(200).getString("status").equals(status));
    return client.get(path).expect(200);
  }

  /** Until a timer has found that its time is up. */
  private static void awaitExpiring(JsonObject purchase) throws Exception {
    String id = purchase.getString("id");
    String row =
        "lockstep_server.purchase WHERE expiring AND id = '"
            + id.substring(id.indexOf('.') + 1)
            + "'";
    Await.until("its time is up", () -> count(row) == 1);
  }

  private static int intentStatus(JsonObject purchase) {
    return (int)
        server
            .database()
            .queryLong(
                "SELECT status FROM gateway.intent WHERE id = ?",
                purchase.getJsonObject("payment").getString("id"));
  }

  private static int count(String from) {
    return (int) server.database().queryLong("SELECT count(*) FROM " + from);
  }
}
