package dev.lockstep.server;

import static dev.lockstep.server.Client.layer;
import static dev.lockstep.server.Client.order;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.gateway.GatewayFaults;
import dev.lockstep.gateway.GatewayFaults.Answers;
import dev.lockstep.server.Client.Reply;
import dev.lockstep.testkit.Race;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** G5: a refund of a part gives back that money and those goods, and the rest stays as it is. */
@Timeout(120)
class PartialRefundTest {
  @RegisterExtension static final RunningServer server = new RunningServer(RunningServer.PAYMENTS);

  private static final int PRICE = 250;

  @AfterEach
  void makeTheGatewayReliableAgain() {
    server.gateway().setFaults(GatewayFaults.NONE);
  }

  @Test
  void itemsGoBackToStockAndTheirMoneyToTheBuyer() throws Exception {
    String campaign = server.drop(3, 3);
    JsonObject bought = bought(campaign, sku("A", 3));

    JsonObject first = refund(bought, "r1", items(sku("A", 1)).put("reason", "broken")).expect(200);

    assertThat(first.getString("status")).isEqualTo("completed");
    assertThat(money(first, "refunded")).isEqualTo(PRICE);
    assertThat(money(first, "total")).isEqualTo(3 * PRICE);
    assertThat(quantity(first)).isEqualTo(2);
    JsonObject entry = first.getJsonArray("refunds").getJsonObject(0);
    assertThat(entry.getString("reason")).isEqualTo("broken");
    assertThat(money(entry, "amount")).isEqualTo(PRICE);
    assertThat(entry.getJsonArray("items").getJsonObject(0).getInteger("quantity")).isEqualTo(1);
    Reply again = refund(bought, "r1", items(sku("A", 1)).put("reason", "broken"));
    assertThat(again.expect(200)).isEqualTo(first);
    assertThat(again.replayed()).isTrue();
    assertThat(sold(campaign)).isEqualTo(2);
    agree(campaign);
    // The unit, and the buyer's share, are for sale again.
    bought(campaign, sku("A", 1));

    JsonObject second = refund(bought, "r2", items(sku("A", 1))).expect(200);
    assertThat(second.getJsonArray("refunds")).hasSize(2);
    agree(campaign);
    JsonObject rest = refund(bought, "r3", null).expect(200);
    assertThat(rest.getString("status")).isEqualTo("refunded");
    assertThat(money(rest, "refunded")).isEqualTo(3 * PRICE);
    assertThat(givenBack(bought)).isEqualTo(3 * PRICE);
    assertThat(sold(campaign)).isEqualTo(1);
    agree(campaign);
  }

  @Test
  void anAmountGoesBackAndTheGoodsStay() throws Exception {
    String campaign = server.drop(3, null);
    JsonObject bought = bought(campaign, sku("A", 2));

    JsonObject less = refund(bought, "r", amount(99)).expect(200);

    assertThat(less.getString("status")).isEqualTo("completed");
    assertThat(money(less, "refunded")).isEqualTo(99);
    assertThat(quantity(less)).isEqualTo(2);
    assertThat(sold(campaign)).isEqualTo(2);
    assertThat(givenBack(bought)).isEqualTo(99);
    agree(campaign);
    // All that is left is a refund like any other: the goods come back.
    JsonObject rest = refund(bought, "r2", amount(2 * PRICE - 99)).expect(200);
    assertThat(rest.getString("status")).isEqualTo("refunded");
    assertThat(sold(campaign)).isZero();
    agree(campaign);
  }

  @Test
  void moreThanIsLeftIsRefusedAndNothingHappens() throws Exception {
    String campaign = server.drop(3, null);
    JsonObject bought = bought(campaign, sku("A", 2));
    refund(bought, "r", amount(100)).expect(200);

    JsonObject refused =
        refund(bought, "m", amount(2 * PRICE - 99)).expectProblem(409, "refund-too-large");
    assertThat(refused.getInteger("refundable")).isEqualTo(2 * PRICE - 100);
    refund(bought, "i", items(sku("A", 3))).expectProblem(409, "refund-too-large");
    refund(bought, "p", items(sku("A", 2)).put("amount", 1)).expectProblem(409, "refund-too-large");
    refund(bought, "u", items(sku("Z", 1))).expectProblem(400, "invalid-request");
    refund(bought, "z", amount(0)).expectProblem(400, "invalid-request");
    server
        .service()
        .post("/v1/purchases/" + bought.getString("id") + "/refund", "s", amount(1))
        .expectProblem(403, "forbidden");

    assertThat(givenBack(bought)).isEqualTo(100);
    assertThat(sold(campaign)).isEqualTo(2);
    agree(campaign);
  }

  /** Each takes what is left, or is refused; nobody gets more back than was paid. */
  @Test
  void refundsAtOnceNeverGiveBackMoreThanWasPaid() throws Exception {
    String campaign = server.drop(10, null);
    JsonObject bought = bought(campaign, sku("A", 4));

    List<Reply> replies =
        Race.<Reply>of(12)
            .run(i -> refund(bought, "r" + i, i % 2 == 0 ? amount(170) : items(sku("A", 1))))
            .valuesOrThrow();

    assertThat(replies).allSatisfy(reply -> assertThat(reply.status()).isIn(200, 202, 409));
    assertThat(replies).anySatisfy(reply -> reply.expect(200));
    awaitNoRefund(bought);
    JsonObject now = read(bought);
    assertThat(money(now, "refunded")).isEqualTo(givenBack(bought)).isLessThanOrEqualTo(4 * PRICE);
    assertThat(sold(campaign)).isEqualTo(quantity(now));
    agree(campaign);
  }

  @Test
  void aPartWhoseAnswerIsLostGoesBackOnce() throws Exception {
    String campaign = server.drop(3, null);
    JsonObject bought = bought(campaign, sku("A", 3));
    server.gateway().setFaults(GatewayFaults.NONE.withAnswers(Answers.errorsAfter(1)));

    JsonObject refunding = refund(bought, "r", items(sku("A", 1))).expect(202);
    assertThat(refunding.getString("status")).isEqualTo("refunding");
    refund(bought, "other", amount(1)).expectProblem(409, "not-refundable");
    server.gateway().setFaults(GatewayFaults.NONE);

    awaitNoRefund(bought);
    assertThat(givenBack(bought)).isEqualTo(PRICE);
    assertThat(sold(campaign)).isEqualTo(2);
    refund(bought, "more", items(sku("A", 1))).expect(200);
    assertThat(givenBack(bought)).isEqualTo(2 * PRICE);
    agree(campaign);
  }

  @Test
  void aPositionGoesBackBeforeTheDrawAndStaysAfterIt() throws Exception {
    String campaign = server.triangle(3, null);
    JsonObject bought = bought(campaign, layer(3, 3));
    JsonObject less = refund(bought, "r", items(layer(3, 1))).expect(200);
    assertThat(less.getJsonArray("positions")).hasSize(2);
    assertThat(sold(campaign)).isEqualTo(2);
    agree(campaign);

    bought(campaign, layer(3, 1), layer(2, 2), layer(1, 1));
    Await.until(
        "it is drawn",
        () ->
            server
                .anyone()
                .get("/v1/campaigns/" + campaign)
                .expect(200)
                .getString("status")
                .equals("drawn"));
    JsonObject after = refund(bought, "late", items(layer(3, 1))).expect(200);

    assertThat(money(after, "refunded")).isEqualTo(2 * 500);
    assertThat(after.getJsonArray("positions")).as("its entry stands").hasSize(2);
    assertThat(sold(campaign)).isEqualTo(6);
    agree(campaign);
  }

  private static JsonObject bought(String campaign, JsonObject... items) throws Exception {
    return server
        .service()
        .post(
            "/v1/campaigns/" + campaign + "/purchases",
            "k" + System.nanoTime(),
            order("alice", "pm_card_visa", items))
        .expect(201);
  }

  private static Reply refund(JsonObject purchase, String key, @Nullable JsonObject body)
      throws Exception {
    return server
        .operator()
        .post("/v1/purchases/" + purchase.getString("id") + "/refund", key, body);
  }

  private static JsonObject items(JsonObject... items) {
    return new JsonObject().put("items", new JsonArray(List.of(items)));
  }

  private static JsonObject amount(int amount) {
    return new JsonObject().put("amount", amount);
  }

  private static JsonObject read(JsonObject purchase) throws Exception {
    return server.operator().get("/v1/purchases/" + purchase.getString("id")).expect(200);
  }

  private static void awaitNoRefund(JsonObject purchase) throws Exception {
    Await.until(
        "no refund is in progress", () -> !read(purchase).getString("status").equals("refunding"));
  }

  private static long money(JsonObject json, String name) {
    return json.getJsonObject(name).getLong("amount");
  }

  private static int quantity(JsonObject purchase) {
    return purchase.getJsonArray("items").stream()
        .mapToInt(item -> ((JsonObject) item).getInteger("quantity"))
        .sum();
  }

  private static int sold(String campaign) throws Exception {
    return server.anyone().get("/v1/campaigns/" + campaign).expect(200).getInteger("sold");
  }

  private static long givenBack(JsonObject purchase) {
    return server
        .database()
        .queryLong(
            "SELECT refunded FROM gateway.intent WHERE id = ?",
            purchase.getJsonObject("payment").getString("id"));
  }

  /** The campaign's book, the provider's books and the server's own checks agree. */
  private static void agree(String campaign) throws Exception {
    long kept =
        server
            .database()
            .queryLong(
                "SELECT coalesce(sum(amount - refunded), 0)::bigint FROM gateway.intent"
                    + " WHERE status = 3 AND metadata::json ->> 'purchase' LIKE '"
                    + campaign
                    + ".%'");
    assertThat(
            server
                .database()
                .queryLong(
                    "SELECT balance FROM lockstep.account WHERE account = 2 AND book = "
                        + campaign))
        .as("takings")
        .isEqualTo(kept);
    JsonObject report = server.operator().get("/v1/reconciliation").expect(200);
    for (String list :
        List.of("moneyWithoutGoods", "goodsWithoutMoney", "unsettled", "books", "provider")) {
      assertThat(Findings.of(report, list, campaign)).as(list).isEmpty();
    }
    assertThat(server.operator().post("/v1/invariants/check", null).expect(200).getBoolean("ok"))
        .isTrue();
  }
}
