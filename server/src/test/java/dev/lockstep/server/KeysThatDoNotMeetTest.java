package dev.lockstep.server;

import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.order;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldId;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Whatever keys callers choose, no request gets in the way of another one. */
@Timeout(120)
class KeysThatDoNotMeetTest {
  @RegisterExtension static final RunningServer server = new RunningServer(RunningServer.PAYMENTS);

  @Test
  void aTransferCannotTakeThePlaceOfASalesTransfer() throws Exception {
    String campaign = server.drop(20, null);
    Client shop = server.operator();
    transfer(campaign, "purchase k1");

    JsonObject bought =
        shop.post(purchases(campaign), "k1", order("alice", "pm_card_visa", sku("A", 1)))
            .expect(201);

    assertThat(bought.getString("status")).isEqualTo("completed");
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void aTransferCannotTakeThePlaceOfTheTransferOfACartsSale() throws Exception {
    String campaign = server.drop(20, null);
    Client shop = server.operator();
    JsonObject cart =
        shop.post("/v1/campaigns/" + campaign + "/holds", "k3", cart("alice", sku("A", 1)))
            .expect(201);
    // As a day later: a key is forgotten, what it made is not.
    server.database().execute("DELETE FROM lockstep.once WHERE key = 'k3'");
    transfer(campaign, "k3");

    JsonObject bought =
        shop.post(
                "/v1/holds/" + cart.getString("id") + "/checkout",
                "k4",
                new JsonObject().put("paymentMethod", "pm_card_visa"))
            .expect(201);

    assertThat(bought.getString("status")).isEqualTo("completed");
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  /** Such a transfer was made while an older version ran, and the purchase began there, too. */
  @Test
  void aPurchaseOfAnOlderVersionIsSettledThoughATransferHasItsId() throws Exception {
    String campaign = server.drop(20, null);
    JsonObject waiting =
        server
            .operator()
            .post(
                purchases(campaign),
                "k5",
                order("alice", "pm_card_authenticationRequired", sku("A", 1)))
            .expect(202);
    JsonObject made = transfer(campaign, "any");
    String id = waiting.getString("id");
    server
        .database()
        .execute(
            "UPDATE lockstep.transfer SET transfer = '%s' WHERE transfer = '%s'"
                .formatted(uuid(id), uuid(made.getString("id"))));

    server
        .operator()
        .post("/v1/purchases/" + id + "/authenticate", new JsonObject().put("approved", true));

    Await.until(
        "the purchase is completed",
        () ->
            server
                .operator()
                .get("/v1/purchases/" + id)
                .expect(200)
                .getString("status")
                .equals("completed"));
  }

  @Test
  void aBuyerOfWhatIsSoldOutIsNotChargedForACartThatWasReleased() throws Exception {
    String campaign = server.drop(1, null);
    Client alice = server.buyer("alice");
    JsonObject cart =
        alice
            .post("/v1/campaigns/" + campaign + "/holds", "purchase k2", cart("alice", sku("A", 1)))
            .expect(201);
    alice.delete("/v1/holds/" + cart.getString("id")).expect(200);
    server
        .buyer("bob")
        .post(purchases(campaign), "b", order("bob", "pm_card_visa", sku("A", 1)))
        .expect(201);

    alice
        .post(purchases(campaign), "k2", order("alice", "pm_card_visa", sku("A", 1)))
        .expectProblem(409, "sold-out");
  }

  /** Older versions named a purchase's hold as a cart's, with a word before the key. */
  @Test
  void aKeyOfAnOlderVersionBuysNothingAgainThoughItWasForgotten() throws Exception {
    String campaign = server.drop(20, null);
    Client alice = server.buyer("alice");
    JsonObject order = order("alice", "pm_card_visa", sku("A", 1));
    JsonObject bought = alice.post(purchases(campaign), "old", order).expect(201);
    String owner =
        server
            .database()
            .query(
                "SELECT created_by FROM lockstep_server.purchase WHERE campaign = " + campaign,
                row -> row.getString(1))
            .get(0);
    server
        .database()
        .execute(
            """
            UPDATE lockstep_server.purchase SET id = '%1$s', hold = '%1$s' WHERE campaign = %2$s;
            UPDATE lockstep.hold SET hold = '%1$s' WHERE scope = %2$s;
            DELETE FROM lockstep.once WHERE key = 'old'"""
                .formatted(HoldId.forKey(new BuyerId(owner), "purchase old"), campaign));

    JsonObject again = alice.post(purchases(campaign), "old", order).expect(201);

    assertThat(again).isEqualTo(bought);
    alice
        .post(purchases(campaign), "old", order("alice", "pm_card_visa", sku("A", 2)))
        .expectProblem(422, "idempotency-key-reused");
    assertThat(
            server
                .database()
                .query(
                    "SELECT count(*) FROM lockstep_server.purchase WHERE campaign = " + campaign,
                    row -> row.getInt(1)))
        .containsExactly(1);
  }

  private static JsonObject transfer(String campaign, String key) throws Exception {
    String from = account(campaign, "from").getString("id");
    String to = account(campaign, "to").getString("id");
    return server
        .operator()
        .post(
            "/v1/transfers",
            key,
            new JsonObject()
                .put("from", from)
                .put("to", to)
                .put("amount", 1)
                .put("currency", "USD"))
        .expect(201);
  }

  private static JsonObject account(String campaign, String name) throws Exception {
    return server
        .operator()
        .post(
            "/v1/accounts",
            name + campaign,
            new JsonObject()
                .put("name", name)
                .put("currency", "USD")
                .putNull("floor")
                .put("campaign", campaign))
        .expect(201);
  }

  private static String purchases(String campaign) {
    return "/v1/campaigns/" + campaign + "/purchases";
  }

  private static String uuid(String id) {
    return id.substring(id.indexOf('.') + 1);
  }
}
