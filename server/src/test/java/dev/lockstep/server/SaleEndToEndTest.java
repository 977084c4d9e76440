package dev.lockstep.server;

import static dev.lockstep.server.Client.layer;
import static dev.lockstep.server.Client.order;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import dev.lockstep.testkit.Race;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A whole sale over HTTP: hold, payment and settlement, alone and in a crowd. */
@Timeout(180)
class SaleEndToEndTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  @Test
  void ofAThousandBuyersForAHundredUnitsExactlyAHundredPayAndGetOne() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(100, null);

    List<Reply> replies =
        Race.<Reply>of(1_000)
            .run(i -> buy(shop, campaign, "k" + i, order("b" + i, "pm_card_visa", sku("A", 1))))
            .valuesOrThrow();

    assertThat(replies).filteredOn(reply -> reply.status() == 201).hasSize(100);
    assertThat(replies)
        .filteredOn(reply -> reply.status() != 201)
        .hasSize(900)
        .allSatisfy(reply -> reply.expectProblem(409, "sold-out"));
    JsonObject stock = server.anyone().get("/v1/campaigns/" + campaign).expect(200);
    assertThat(stock.getInteger("sold")).isEqualTo(100);
    assertThat(stock.getInteger("held")).isZero();
    assertThat(stock.getInteger("free")).isZero();
    MoneyAndGoods.in(server, campaign).agree(100);
  }

  @Test
  void oneKeySentTwentyTimesAtOnceIsOnePurchase() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(100, null);
    JsonObject order = order("alice", "pm_card_visa", sku("A", 2));

    List<Reply> replies =
        Race.<Reply>of(20).run(i -> buy(shop, campaign, "same", order)).valuesOrThrow();

    assertThat(replies).filteredOn(reply -> reply.status() == 201).isNotEmpty();
    assertThat(replies)
        .filteredOn(reply -> reply.status() != 201)
        .allSatisfy(
            reply -> {
              reply.expectProblem(409, "idempotency-key-in-use");
              assertThat(reply.header("Retry-After")).hasValue("1");
            });
    assertThat(replies).filteredOn(r -> r.status() == 201 && !r.replayed()).hasSize(1);
    Reply again = buy(shop, campaign, "same", order);
    assertThat(again.replayed()).isTrue();
    assertThat(replies)
        .filteredOn(reply -> reply.status() == 201)
        .extracting(reply -> reply.response().body())
        .containsOnly(again.response().body());
    MoneyAndGoods.in(server, campaign).agree(1);
    assertThat(sold(campaign)).isEqualTo(2);
  }

  @Test
  void aKeyReusedForAnotherPurchaseIsRefused() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(10, null);
    buy(shop, campaign, "k", order("alice", "pm_card_visa", sku("A", 1))).expect(201);

    buy(shop, campaign, "k", order("alice", "pm_card_visa", sku("A", 2)))
        .expectProblem(422, "idempotency-key-reused");
    buy(shop, campaign, "k", order("alice", "pm_card_jcb", sku("A", 1)))
        .expectProblem(422, "idempotency-key-reused");
    shop.post("/v1/campaigns/" + campaign + "/holds", "k", Client.cart("alice", sku("A", 1)))
        .expectProblem(422, "idempotency-key-reused");
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void aBuyersLimitHoldsUnderParallelPurchases() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(100, 3);

    List<Reply> replies =
        Race.<Reply>of(30)
            .run(i -> buy(shop, campaign, "k" + i, order("alice", "pm_card_visa", sku("A", 1))))
            .valuesOrThrow();

    assertThat(replies).filteredOn(reply -> reply.status() == 201).hasSize(3);
    assertThat(replies)
        .filteredOn(reply -> reply.status() != 201)
        .allSatisfy(
            reply -> {
              JsonObject problem = reply.expectProblem(409, "limit-reached");
              assertThat(problem.getInteger("limit")).isEqualTo(3);
              assertThat(problem.getInteger("used")).isEqualTo(3);
            });
    MoneyAndGoods.in(server, campaign).agree(3);
  }

  @Test
  void everyPositionOfATriangleIsSoldOnce() throws Exception {
    Client shop = server.service();
    String campaign = server.triangle(5, null);

    List<Reply> replies =
        Race.<Reply>of(40)
            .run(i -> buy(shop, campaign, "k" + i, order("b" + i, i % 5 + 1, "pm_card_visa")))
            .valuesOrThrow();

    Set<JsonObject> positions = new HashSet<>();
    for (Reply reply : replies) {
      if (reply.status() == 201) {
        JsonArray given = reply.json().getJsonArray("positions");
        assertThat(given).hasSize(1);
        assertThat(positions.add(given.getJsonObject(0))).isTrue();
      }
    }
    assertThat(positions).hasSize(15);
    MoneyAndGoods.in(server, campaign).agree(15);
  }

  @Test
  void aPurchaseSaysWhatWasBoughtAndWhereItIs() throws Exception {
    Client shop = server.service();
    String campaign = server.triangle(4, null);

    Reply reply = buy(shop, campaign, "k", order("alice", 3, "pm_card_visa"));

    JsonObject purchase = reply.expect(201);
    assertThat(purchase.getString("status")).isEqualTo("completed");
    assertThat(purchase.getJsonObject("total"))
        .isEqualTo(new JsonObject().put("amount", 500).put("currency", "JPY"));
    assertThat(purchase.getJsonObject("payment").getString("status")).isEqualTo("succeeded");
    assertThat(purchase.getJsonObject("payment").getString("id")).startsWith("pi_");
    JsonObject position = purchase.getJsonArray("positions").getJsonObject(0);
    assertThat(position.getInteger("layer")).isEqualTo(3);
    assertThat(position.getInteger("row")).isEqualTo(3);
    assertThat(position.getInteger("column")).isBetween(1, 3);
    assertThat(reply.header("Location")).hasValue("/v1/purchases/" + purchase.getString("id"));
    assertThat(shop.get("/v1/purchases/" + purchase.getString("id")).expect(200))
        .isEqualTo(purchase);
    JsonObject hold = shop.get("/v1/holds/" + purchase.getString("hold")).expect(200);
    assertThat(hold.getString("state")).isEqualTo("sold");
  }

  @Test
  void aCartIsCheckedOutOnce() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(10, null);
    String hold = hold(shop, campaign, "alice", 2);
    String checkout = "/v1/holds/" + hold + "/checkout";
    JsonObject card = new JsonObject().put("paymentMethod", "pm_card_visa");

    Reply first = shop.post(checkout, "c1", card);
    JsonObject purchase = first.expect(201);

    assertThat(purchase.getString("hold")).isEqualTo(hold);
    assertThat(purchase.getJsonObject("total").getInteger("amount")).isEqualTo(500);
    Reply again = shop.post(checkout, "c1", card);
    assertThat(again.expect(201)).isEqualTo(purchase);
    assertThat(again.replayed()).isTrue();
    shop.post(checkout, "c2", card).expectProblem(409, "hold-ended");
    shop.delete("/v1/holds/" + hold).expectProblem(409, "hold-ended");
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void aReleasedCartCannotBeCheckedOut() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(10, null);
    String hold = hold(shop, campaign, "alice", 1);
    shop.delete("/v1/holds/" + hold).expect(200);

    shop.post(
            "/v1/holds/" + hold + "/checkout",
            "c",
            new JsonObject().put("paymentMethod", "pm_card_visa"))
        .expectProblem(409, "hold-ended");
    MoneyAndGoods.in(server, campaign).agree(0);
  }

  /** ¥500 is 500, $5.00 is 500, 0.500 KWD is 500: never a hundred times as much. */
  @ParameterizedTest
  @CsvSource({"JPY, 500", "USD, 500", "KWD, 500"})
  void theAmountChargedIsInTheCurrencysOwnMinorUnit(String currency, int price) throws Exception {
    JsonObject drop = RunningServer.dropOf(5).put("currency", currency);
    drop.getJsonArray("products").getJsonObject(0).put("price", price);
    String campaign = server.published(drop);

    JsonObject purchase =
        buy(server.service(), campaign, "k", order("alice", "pm_card_visa", sku("A", 2)))
            .expect(201);

    assertThat(purchase.getJsonObject("total"))
        .isEqualTo(new JsonObject().put("amount", 2 * price).put("currency", currency));
    List<String> charged =
        server
            .database()
            .query(
                "SELECT amount || ' ' || upper(currency) FROM gateway.intent WHERE id = '"
                    + purchase.getJsonObject("payment").getString("id")
                    + "'",
                row -> row.getString(1));
    assertThat(charged).containsExactly(2 * price + " " + currency);
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void aBuyerBuysForItselfAndSeesItsOwnPurchasesOnly() throws Exception {
    String campaign = server.drop(10, null);
    Client alice = server.buyer("alice-sees");
    Client bob = server.buyer("bob-sees");
    JsonObject order = new JsonObject().put("paymentMethod", "pm_card_visa");
    order.put("items", new JsonArray().add(sku("A", 1)));
    String bought = buy(alice, campaign, "k", order).expect(201).getString("id");
    buy(bob, campaign, "k", order).expect(201);

    alice.get("/v1/purchases/" + bought).expect(200);
    bob.get("/v1/purchases/" + bought).expectProblem(404, "not-found");
    bob.get("/v1/purchases?buyer=alice-sees").expectProblem(403, "forbidden");
    assertThat(ids(bob.get("/v1/purchases"))).hasSize(1).doesNotContain(bought);
    assertThat(ids(alice.get("/v1/purchases?buyer=alice-sees"))).containsExactly(bought);
    buy(bob, campaign, "k2", order("alice-sees", "pm_card_visa", sku("A", 1)))
        .expectProblem(403, "forbidden");
    bob.post("/v1/purchases/" + bought + "/refund", "r", null).expectProblem(403, "forbidden");
    MoneyAndGoods.in(server, campaign).agree(2);
  }

  @Test
  void purchasesAreListedNewestFirstByBuyerCampaignAndStatus() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(10, null);
    String first = bought(shop, campaign, "1", "list-1");
    String second = bought(shop, campaign, "2", "list-2");
    String third = bought(shop, campaign, "3", "list-1");
    buy(shop, campaign, "4", order("list-1", "pm_card_chargeDeclined", sku("A", 1)))
        .expectProblem(402, "payment-failed");

    String base = "/v1/purchases?campaign=" + campaign;
    assertThat(ids(shop.get(base + "&status=completed"))).containsExactly(third, second, first);
    assertThat(ids(shop.get(base + "&buyer=list-1&status=completed")))
        .containsExactly(third, first);
    assertThat(ids(shop.get(base + "&status=requiresPaymentMethod"))).hasSize(1);
    JsonObject page = shop.get(base + "&status=completed&limit=2").expect(200);
    assertThat(page.getString("next")).isNotNull();
    assertThat(ids(shop.get(base + "&status=completed&after=" + page.getString("next"))))
        .containsExactly(first);
    shop.get("/v1/purchases?status=odd").expectProblem(400, "invalid-request");
    shop.get("/v1/purchases?campaign=odd").expectProblem(400, "invalid-request");
    shop.get("/v1/purchases?after=odd").expectProblem(400, "invalid-request");
  }

  @Test
  void whatMakesNoSenseIsRefusedAndChangesNothing() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(10, null);
    String path = "/v1/campaigns/" + campaign + "/purchases";

    shop.post(path, order("alice", "pm_card_visa", sku("A", 1)))
        .expectProblem(400, "idempotency-key-missing");
    shop.post(path, "k", order("alice", "pm_card_visa", sku("Z", 1)))
        .expectProblem(400, "invalid-request");
    shop.post(path, "k", order("alice", "pm_card_visa", layer(1, 1)))
        .expectProblem(400, "invalid-request");
    shop.post(path, "k", Client.cart("alice", sku("A", 1))).expectProblem(400, "invalid-request");
    shop.post(path, "k", new JsonObject().put("buyer", "a").put("paymentMethod", "pm_card_visa"))
        .expectProblem(400, "invalid-request");
    shop.post(path, "k", order("alice", 1, "pm_card_visa").put("items", new JsonArray()))
        .expectProblem(400, "invalid-request");
    shop.post(path, "k", order("alice", "pm_card_visa", sku("A", 11)))
        .expectProblem(409, "sold-out");
    shop.post("/v1/campaigns/999999/purchases", "k", order("a", 1, "pm_card_visa"))
        .expectProblem(404, "not-found");
    buy(shop, campaign, "no-such-card", order("alice", "pm_none", sku("A", 1)))
        .expectProblem(402, "payment-failed");
    shop.get("/v1/purchases/nonsense").expectProblem(404, "not-found");
    MoneyAndGoods.in(server, campaign).agree(0);
    assertThat(server.anyone().get("/v1/campaigns/" + campaign).expect(200).getInteger("free"))
        .isEqualTo(10);
  }

  private static String bought(Client shop, String campaign, String key, String buyer)
      throws Exception {
    return buy(shop, campaign, key, order(buyer, "pm_card_visa", sku("A", 1)))
        .expect(201)
        .getString("id");
  }

  private static Reply buy(Client client, String campaign, String key, JsonObject order)
      throws Exception {
    return client.post("/v1/campaigns/" + campaign + "/purchases", key, order);
  }

  private static String hold(Client shop, String campaign, String buyer, int quantity)
      throws Exception {
    return shop.post(
            "/v1/campaigns/" + campaign + "/holds",
            "hold-" + buyer,
            Client.cart(buyer, sku("A", quantity)))
        .expect(201)
        .getString("id");
  }

  private static int sold(String campaign) throws Exception {
    return server.anyone().get("/v1/campaigns/" + campaign).expect(200).getInteger("sold");
  }

  private static List<String> ids(Reply page) {
    return page.expect(200).getJsonArray("items").stream()
        .map(item -> ((JsonObject) item).getString("id"))
        .toList();
  }
}
