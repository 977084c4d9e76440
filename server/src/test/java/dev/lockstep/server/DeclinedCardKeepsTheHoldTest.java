package dev.lockstep.server;

import static dev.lockstep.server.Client.order;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.gateway.GatewayFaults;
import dev.lockstep.gateway.GatewayFaults.Answers;
import dev.lockstep.server.Client.Reply;
import dev.lockstep.testkit.Race;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** G5: a declined card keeps the goods for another card, and no two cards pay for one purchase. */
@Timeout(120)
class DeclinedCardKeepsTheHoldTest {
  @RegisterExtension static final RunningServer server = new RunningServer(RunningServer.PAYMENTS);

  private static final String VISA = "pm_card_visa";
  private static final String DECLINED = "pm_card_chargeDeclined";
  private static final String NO_FUNDS = "pm_card_visa_chargeDeclinedInsufficientFunds";
  private static final String CHALLENGED = "pm_card_authenticationRequired";
  private static final int CANCELED = 4;

  @AfterEach
  void makeTheGatewayReliableAgain() {
    server.gateway().setFaults(GatewayFaults.NONE);
  }

  @Test
  void anotherCardPaysForTheSameGoodsOfTheSamePurchase() throws Exception {
    Client shop = server.service();
    String campaign = server.triangle(3, 1);
    JsonObject order = order("alice", 1, NO_FUNDS);

    Reply first = buy(shop, campaign, "k", order);
    JsonObject declined = first.expectProblem(402, "payment-failed");
    JsonObject purchase = declined.getJsonObject("purchase");

    assertThat(declined.getString("code")).isEqualTo("insufficient_funds");
    assertThat(purchase.getString("status")).isEqualTo("requiresPaymentMethod");
    assertThat(read(shop, purchase)).isEqualTo(purchase);
    buy(shop, campaign, "k2", order("bob", 1, VISA)).expectProblem(409, "sold-out");
    shop.delete("/v1/holds/" + purchase.getString("hold")).expectProblem(409, "hold-in-checkout");
    Reply second = pay(shop, purchase, "p1", DECLINED);
    JsonObject again = second.expectProblem(402, "payment-failed").getJsonObject("purchase");
    JsonObject paid = pay(shop, purchase, "p2", VISA).expect(200);

    assertThat(paid.getString("status")).isEqualTo("completed");
    assertThat(paid.getJsonArray("positions")).isEqualTo(purchase.getJsonArray("positions"));
    assertThat(paid.getString("hold")).isEqualTo(purchase.getString("hold"));
    assertThat(paid.getString("expiresAt")).isEqualTo(purchase.getString("expiresAt"));
    assertThat(reasons(paid)).containsExactly("insufficient_funds", "generic_decline");
    assertThat(paid.getJsonArray("tries").getJsonObject(0).getString("at"))
        .isEqualTo(purchase.getString("createdAt"));
    assertThat(reasons(again)).isEqualTo(reasons(paid));
    // Each request is answered as it was the first time.
    assertThat(answer(buy(shop, campaign, "k", order))).isEqualTo(answer(first));
    assertThat(answer(pay(shop, purchase, "p1", DECLINED))).isEqualTo(answer(second));
    Reply replayed = pay(shop, purchase, "p2", VISA);
    assertThat(replayed.expect(200)).isEqualTo(paid);
    assertThat(replayed.replayed()).isTrue();
    pay(shop, purchase, "p2", DECLINED).expectProblem(422, "idempotency-key-reused");
    pay(shop, purchase, "p3", VISA).expectProblem(409, "not-payable");
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void ofTabsThatPayAtOnceOneChargesTheBuyer() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(10, null);
    try (Server other = server.start(false)) {
      Client elsewhere = new Client(other.url(), shop.key());
      for (int round = 0; round < 5; round++) {
        JsonObject purchase = declined(shop, campaign, "k" + round);
        String key = "p" + round + "-";
        List<Reply> replies =
            Race.<Reply>of(8)
                // Each key comes twice, once on each node.
                .run(i -> pay(i % 2 == 0 ? shop : elsewhere, purchase, key + i / 2, VISA))
                .valuesOrThrow();

        assertThat(replies).allSatisfy(reply -> assertThat(reply.status()).isIn(200, 409));
        assertThat(replies).anySatisfy(reply -> reply.expect(200));
        assertThat(replies.stream().filter(reply -> reply.status() == 200))
            .as("one try, and perhaps its repetition")
            .hasSizeBetween(1, 2);
        assertThat(intents(purchase)).isEqualTo(1);
      }
    }
    MoneyAndGoods.in(server, campaign).agree(5);
  }

  @Test
  void theFifthDeclineFreesTheGoods() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(1, 1);
    JsonObject purchase = declined(shop, campaign, "k");
    for (int i = 2; i <= 4; i++) {
      JsonObject still =
          pay(shop, purchase, "p" + i, DECLINED).expectProblem(402, "payment-failed");
      assertThat(still.getString("purchaseStatus")).isEqualTo("requiresPaymentMethod");
    }

    JsonObject last = pay(shop, purchase, "p5", NO_FUNDS).expectProblem(402, "payment-failed");

    JsonObject failed = last.getJsonObject("purchase");
    assertThat(failed.getString("status")).isEqualTo("failed");
    assertThat(reasons(failed)).hasSize(5).endsWith("insufficient_funds");
    pay(shop, purchase, "p6", VISA).expectProblem(409, "not-payable");
    // The unit and the buyer's share are free by the time that the answer is there.
    buy(shop, campaign, "k2", order("alice", VISA, sku("A", 1))).expect(201);
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void aBuyerWhoGivesUpFreesTheGoodsOnceThePaymentIsCanceled() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(1, 1);
    JsonObject purchase = declined(shop, campaign, "k");
    String path = "/v1/purchases/" + purchase.getString("id");
    server.buyer("mallory").delete(path).expectProblem(404, "not-found");

    JsonObject failed = server.buyer("alice").delete(path).expect(200);

    assertThat(failed.getString("status")).isEqualTo("failed");
    assertThat(failed.getString("failure")).isEqualTo("given_up");
    assertThat(intentStatus(purchase)).isEqualTo(CANCELED);
    assertThat(shop.delete(path).expect(200)).as("repeated").isEqualTo(failed);
    pay(shop, purchase, "p", VISA).expectProblem(409, "not-payable");
    buy(shop, campaign, "k2", order("alice", VISA, sku("A", 1))).expect(201);
    shop.delete("/v1/purchases/" + campaign + ".00000000-0000-8000-8000-000000000000")
        .expectProblem(404, "not-found");
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void aBuyerMayGiveUpWhileTheBankWaitsButNotWhileACardIsCharged() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(5, null);
    JsonObject waiting =
        buy(shop, campaign, "k", order("alice", CHALLENGED, sku("A", 1))).expect(202);
    pay(shop, waiting, "p", VISA).expectProblem(409, "payment-in-progress");
    shop.delete("/v1/purchases/" + waiting.getString("id")).expect(200);
    authenticate(waiting, true);
    assertThat(read(shop, waiting).getString("status")).isEqualTo("failed");

    JsonObject purchase = declined(shop, campaign, "k2");
    server
        .gateway()
        .setFaults(
            GatewayFaults.NONE
                .withAnswers(Answers.never(1))
                .withWebhooks(GatewayFaults.Webhooks.delayed(Duration.ofSeconds(20))));
    pay(shop, purchase, "p2", VISA).expect(202);
    shop.delete("/v1/purchases/" + purchase.getString("id"))
        .expectProblem(409, "payment-in-progress");
    server.gateway().setFaults(GatewayFaults.NONE);
    await(shop, purchase, "completed");
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  /** Whether a try begins or the purchase is given up, never both. */
  @Test
  void aTryAndGivingUpThatMeetEndInOneOrTheOther() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(20, null);
    int paid = 0;
    for (int round = 0; round < 8; round++) {
      JsonObject purchase = declined(shop, campaign, "k" + round);
      String key = "p" + round;
      List<Reply> replies =
          Race.<Reply>of(2)
              .run(
                  i ->
                      i == 0
                          ? pay(shop, purchase, key, VISA)
                          : shop.delete("/v1/purchases/" + purchase.getString("id")))
              .valuesOrThrow();
      boolean sold = replies.get(0).status() == 200;
      assertThat(replies.get(1).status()).isEqualTo(sold ? 409 : 200);
      assertThat(read(shop, purchase).getString("status")).isEqualTo(sold ? "completed" : "failed");
      paid += sold ? 1 : 0;
    }
    MoneyAndGoods.in(server, campaign).agree(paid);
    assertThat(server.anyone().get("/v1/campaigns/" + campaign).expect(200).getInteger("held"))
        .isZero();
  }

  @Test
  void aChallengeThatFailsLeavesTheGoodsForAnotherCard() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(1, null);
    JsonObject waiting =
        buy(shop, campaign, "k", order("alice", CHALLENGED, sku("A", 1))).expect(202);

    authenticate(waiting, false);
    JsonObject declined = await(shop, waiting, "requiresPaymentMethod");

    assertThat(reasons(declined)).hasSize(1);
    assertThat(declined.containsKey("clientSecret")).isFalse();
    // A second challenge gives no more time.
    JsonObject second = pay(shop, waiting, "p1", CHALLENGED).expect(202);
    assertThat(second.getString("status")).isEqualTo("requiresAction");
    assertThat(second.getString("expiresAt")).isEqualTo(waiting.getString("expiresAt"));
    authenticate(waiting, true);
    await(shop, waiting, "completed");
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void whenTheTimeIsUpTheGoodsAreFreeAndNoCardIsTaken() throws Exception {
    Client shop = server.service();
    String campaign = server.published(RunningServer.dropOf(1).put("holdSeconds", 1));
    JsonObject purchase = declined(shop, campaign, "k");

    JsonObject expired = await(shop, purchase, "expired");

    assertThat(expired.getJsonObject("payment").getString("status")).isEqualTo("canceled");
    assertThat(intentStatus(purchase)).isEqualTo(CANCELED);
    pay(shop, purchase, "p", VISA).expectProblem(409, "hold-ended");
    buy(shop, campaign, "k2", order("bob", VISA, sku("A", 1))).expect(201);
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void anEventOfAnEarlierTryChangesNothing() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(5, null);
    JsonObject purchase = declined(shop, campaign, "k");
    server.gateway().setFaults(GatewayFaults.NONE.withAnswers(Answers.never(1)));
    pay(shop, purchase, "p", VISA).expect(202);

    String first = "purchase-" + purchase.getString("id");
    StripeEvents.send(server, declinedEvent("evt_late", purchase, Optional.of(first))).expect(200);
    StripeEvents.send(server, declinedEvent("evt_who", purchase, Optional.empty())).expect(200);

    JsonObject now = read(shop, purchase);
    assertThat(now.getString("status")).isIn("pending", "completed");
    assertThat(reasons(now)).hasSize(1);
    server.gateway().setFaults(GatewayFaults.NONE);
    await(shop, purchase, "completed");
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void aTryWhoseAnswerIsLostIsChargedOnce() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(5, null);
    JsonObject purchase = declined(shop, campaign, "k");
    server
        .gateway()
        .setFaults(
            GatewayFaults.NONE
                .withAnswers(Answers.errorsAfter(1))
                .withWebhooks(GatewayFaults.Webhooks.delayed(Duration.ofSeconds(20))));

    assertThat(pay(shop, purchase, "p", VISA).expect(202).getString("status")).isEqualTo("pending");
    server.gateway().setFaults(GatewayFaults.NONE);

    JsonObject completed = await(shop, purchase, "completed");
    Reply again = pay(shop, purchase, "p", VISA);
    assertThat(again.expect(200)).isEqualTo(completed);
    assertThat(again.replayed()).isTrue();
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  /** Between the transaction that begins a try and the request to the provider, the node dies. */
  @Test
  void aTryThatNobodySentIsSentByTheTimerAndNotTakenForTheOneBefore() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(5, null);
    JsonObject purchase = declined(shop, campaign, "k");
    server
        .database()
        .execute(
            """
            UPDATE lockstep_server.purchase SET status = 0, try_no = 2, tried_at = now(), looks = 0,
              payment_method = 'pm_card_visa', failure = NULL, due_at = now()
            WHERE id = '%s'"""
                .formatted(uuid(purchase)));

    JsonObject completed = await(shop, purchase, "completed");

    assertThat(reasons(completed)).hasSize(1);
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  /** Each request has an id of its own. */
  private static JsonObject answer(Reply reply) throws Exception {
    JsonObject problem = reply.expectProblem(402, "payment-failed");
    problem.remove("requestId");
    return problem;
  }

  private static JsonObject declined(Client shop, String campaign, String key) throws Exception {
    return buy(shop, campaign, key, order("alice", DECLINED, sku("A", 1)))
        .expectProblem(402, "payment-failed")
        .getJsonObject("purchase");
  }

  private static Reply buy(Client client, String campaign, String key, JsonObject order)
      throws Exception {
    return client.post("/v1/campaigns/" + campaign + "/purchases", key, order);
  }

  private static Reply pay(Client client, JsonObject purchase, String key, String card)
      throws Exception {
    return client.post(
        "/v1/purchases/" + purchase.getString("id") + "/pay",
        key,
        new JsonObject().put("paymentMethod", card));
  }

  private static JsonObject read(Client client, JsonObject purchase) throws Exception {
    return client.get("/v1/purchases/" + purchase.getString("id")).expect(200);
  }

  private static JsonObject await(Client client, JsonObject purchase, String status)
      throws Exception {
    Await.until(
        "the purchase is " + status,
        () -> read(client, purchase).getString("status").equals(status));
    return read(client, purchase);
  }

  private static List<String> reasons(JsonObject purchase) {
    JsonArray tries = purchase.getJsonArray("tries");
    return tries.stream().map(one -> ((JsonObject) one).getString("reason")).toList();
  }

  private static void authenticate(JsonObject waiting, boolean passed) throws Exception {
    server.gateway().authenticate(payment(waiting), passed).toCompletableFuture().get();
  }

  private static String payment(JsonObject purchase) {
    return purchase.getJsonObject("payment").getString("id");
  }

  private static String uuid(JsonObject purchase) {
    String id = purchase.getString("id");
    return id.substring(id.indexOf('.') + 1);
  }

  private static int intentStatus(JsonObject purchase) {
    return (int)
        server
            .database()
            .queryLong("SELECT status FROM gateway.intent WHERE id = ?", payment(purchase));
  }

  private static long intents(JsonObject purchase) {
    return server
        .database()
        .queryLong(
            "SELECT count(*) FROM gateway.intent WHERE metadata::json ->> 'purchase' = ?",
            purchase.getString("id"));
  }

  private static String declinedEvent(String id, JsonObject purchase, Optional<String> cause) {
    JsonObject intent =
        new JsonObject()
            .put("id", payment(purchase))
            .put("object", "payment_intent")
            .put("status", "requires_payment_method")
            .put("currency", "usd")
            .put("last_payment_error", new JsonObject().put("decline_code", "late"))
            .put("metadata", new JsonObject().put("purchase", purchase.getString("id")));
    return new JsonObject()
        .put("id", id)
        .put("object", "event")
        .put("type", "payment_intent.payment_failed")
        .put("request", new JsonObject().put("idempotency_key", cause.orElse(null)))
        .put("data", new JsonObject().put("object", intent))
        .encode();
  }
}
