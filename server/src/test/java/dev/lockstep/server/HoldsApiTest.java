package dev.lockstep.server;

import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.layer;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import dev.lockstep.testkit.Race;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Holds over HTTP, alone and in a crowd. */
@Timeout(120)
class HoldsApiTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  @Test
  void ofFiveHundredBuyersForAHundredUnitsExactlyAHundredAreServed() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(100, null);

    List<Reply> replies =
        Race.<Reply>of(500)
            .run(i -> shop.post(holds(campaign), "k" + i, cart("buyer-" + i, sku("A", 1))))
            .valuesOrThrow();

    assertThat(replies).filteredOn(reply -> reply.status() == 201).hasSize(100);
    assertThat(replies)
        .filteredOn(reply -> reply.status() != 201)
        .hasSize(400)
        .allSatisfy(reply -> reply.expectProblem(409, "sold-out"));
    JsonObject after = server.anyone().get("/v1/campaigns/" + campaign).expect(200);
    assertThat(after.getInteger("held")).isEqualTo(100);
    assertThat(after.getInteger("free")).isZero();
    assertThat(server.operator().post("/v1/invariants/check", null).expect(200).getBoolean("ok"))
        .isTrue();
  }

  @Test
  void everyPositionOfATriangleIsGivenOutOnce() throws Exception {
    Client shop = server.service();
    String campaign = server.triangle(10, null);

    List<Reply> replies =
        Race.<Reply>of(60)
            .run(i -> shop.post(holds(campaign), "p" + i, cart("b" + i, layer(i % 10 + 1, 1))))
            .valuesOrThrow();

    Set<JsonObject> given = new HashSet<>();
    for (Reply reply : replies) {
      if (reply.status() == 201) {
        JsonObject item = reply.json().getJsonArray("items").getJsonObject(0);
        assertThat(given.add(item.getJsonArray("positions").getJsonObject(0))).isTrue();
      }
    }
    // Six ask for each layer; layers 1 to 5 have fewer positions than that.
    assertThat(given).hasSize(1 + 2 + 3 + 4 + 5 + 5 * 6);
    JsonArray positions =
        server
            .anyone()
            .get("/v1/campaigns/" + campaign + "/positions")
            .expect(200)
            .getJsonArray("items");
    assertThat(positions).hasSize(55);
    assertThat(positions.stream().map(JsonObject.class::cast))
        .filteredOn(position -> position.getString("state").equals("held"))
        .extracting(HoldsApiTest::withoutState)
        .containsExactlyInAnyOrderElementsOf(given);
  }

  @Test
  void oneKeySentTwentyTimesAtOnceTakesOneHold() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(100, null);

    List<Reply> replies =
        Race.<Reply>of(20)
            .run(i -> shop.post(holds(campaign), "same", cart("alice", sku("A", 2))))
            .valuesOrThrow();

    assertThat(replies).allSatisfy(reply -> reply.expect(201));
    assertThat(replies)
        .extracting(reply -> reply.response().body())
        .containsOnly(replies.get(0).response().body());
    assertThat(replies).filteredOn(reply -> !reply.replayed()).hasSize(1);
    assertThat(stock(campaign).getInteger("held")).isEqualTo(2);
  }

  @Test
  void aRepeatedKeyGetsTheFirstAnswerHoweverItsJsonIsWritten() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(10, null);
    Reply first = shop.post(holds(campaign), "\"quoted\"", cart("alice", sku("A", 1)));
    String hold = first.expect(201).getString("id");
    shop.delete("/v1/holds/" + hold).expect(200);

    Reply again =
        shop.send(
            "POST",
            holds(campaign),
            "{ \"items\": [ {\"quantity\": 1, \"sku\": \"A\"} ], \"buyer\": \"alice\" }",
            Map.of("Idempotency-Key", "quoted"));

    assertThat(again.expect(201)).isEqualTo(first.json());
    assertThat(again.replayed()).isTrue();
    assertThat(first.replayed()).isFalse();
    assertThat(again.header("Location")).hasValue("/v1/holds/" + hold);
    assertThat(stock(campaign).getInteger("held")).isZero();
  }

  @Test
  void aKeyReusedForAnotherRequestIsRefused() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(10, null);
    shop.post(holds(campaign), "k", cart("alice", sku("A", 1))).expect(201);

    shop.post(holds(campaign), "k", cart("alice", sku("A", 2)))
        .expectProblem(422, "idempotency-key-reused");
    shop.post(holds(campaign), "k", cart("bob", sku("A", 1)))
        .expectProblem(422, "idempotency-key-reused");
    // Another client's key is another key.
    server.service().post(holds(campaign), "k", cart("bob", sku("A", 1))).expect(201);
    assertThat(stock(campaign).getInteger("held")).isEqualTo(2);
  }

  @Test
  void aRefusalIsTheFirstAnswerTooEvenWhenStockHasComeBack() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(1, null);
    String hold = hold(shop, campaign, "alice", 1);
    Reply refused = shop.post(holds(campaign), "late", cart("bob", sku("A", 1)));
    refused.expectProblem(409, "sold-out");
    shop.delete("/v1/holds/" + hold).expect(200);

    Reply again = shop.post(holds(campaign), "late", cart("bob", sku("A", 1)));

    again.expectProblem(409, "sold-out");
    assertThat(again.replayed()).isTrue();
    assertThat(stock(campaign).getInteger("held")).isZero();
    shop.post(holds(campaign), "new", cart("bob", sku("A", 1))).expect(201);
  }

  @Test
  void aRefusedRepetitionDoesNotHarmItsNeighboursInTheBatch() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(1, null);
    String hold = hold(shop, campaign, "alice", 1);
    shop.post(holds(campaign), "again", cart("bob", sku("A", 1))).expectProblem(409, "sold-out");
    shop.delete("/v1/holds/" + hold).expect(200);

    List<Reply> replies =
        Race.<Reply>of(40)
            .run(
                i ->
                    shop.post(
                        holds(campaign),
                        i % 2 == 0 ? "again" : "fresh-" + i,
                        cart(i % 2 == 0 ? "bob" : "carol-" + i, sku("A", 1))))
            .valuesOrThrow();

    assertThat(replies).filteredOn(reply -> reply.status() == 201).hasSize(1);
    assertThat(replies)
        .filteredOn(reply -> reply.status() != 201)
        .allSatisfy(reply -> reply.expectProblem(409, "sold-out"));
  }

  @Test
  void stockIsNotChangedWithoutAKeyThatMakesItRepeatable() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(10, null);
    JsonObject cart = cart("alice", sku("A", 1));

    shop.post(holds(campaign), cart).expectProblem(400, "idempotency-key-missing");
    shop.post(holds(campaign), "x".repeat(256), cart).expectProblem(400, "idempotency-key-invalid");
    shop.post(holds(campaign), "x".repeat(255), cart).expect(201);
  }

  @Test
  void aBuyersLimitHoldsUnderParallelRequests() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(100, 3);

    List<Reply> replies =
        Race.<Reply>of(30)
            .run(i -> shop.post(holds(campaign), "l" + i, cart("alice", sku("A", 1))))
            .valuesOrThrow();

    assertThat(replies).filteredOn(reply -> reply.status() == 201).hasSize(3);
    JsonObject problem =
        shop.post(holds(campaign), "one more", cart("alice", sku("A", 1)))
            .expectProblem(409, "limit-reached");
    assertThat(problem.getInteger("limit")).isEqualTo(3);
    assertThat(problem.getInteger("used")).isEqualTo(3);
    shop.post(holds(campaign), "another", cart("bob", sku("A", 1))).expect(201);
  }

  @Test
  void soldOutSaysWhatIsFree() throws Exception {
    Client shop = server.service();
    String campaign = server.triangle(3, null);

    JsonObject problem =
        shop.post(holds(campaign), "much", cart("alice", layer(2, 1), layer(2, 2)))
            .expectProblem(409, "sold-out");

    assertThat(problem.getInteger("free")).isEqualTo(2);
    assertThat(problem.getJsonArray("shortages"))
        .containsExactly(new JsonObject().put("layer", 2).put("asked", 3).put("free", 2));
  }

  @Test
  void aCartLivesItsLife() throws Exception {
    Client alice = server.buyer("alice");
    String campaign = server.triangle(5, null);
    JsonObject taken =
        alice
            .post(
                holds(campaign),
                "life",
                new JsonObject().put("items", new JsonArray().add(layer(5, 2)).add(layer(4, 1))))
            .expect(201);
    String path = "/v1/holds/" + taken.getString("id");
    assertThat(taken.getString("state")).isEqualTo("held");
    assertThat(taken.getJsonObject("total"))
        .isEqualTo(new JsonObject().put("amount", 1500).put("currency", "JPY"));
    assertThat(alice.get(path).expect(200)).isEqualTo(taken);

    JsonObject changed =
        alice
            .put(path, new JsonObject().put("items", new JsonArray().add(layer(4, 2))))
            .expect(200);
    assertThat(changed.getJsonObject("total").getInteger("amount")).isEqualTo(1000);
    alice
        .put(path, new JsonObject().put("items", new JsonArray().add(layer(1, 2))))
        .expectProblem(409, "sold-out");
    assertThat(alice.get(path).expect(200)).isEqualTo(changed);

    JsonObject extended =
        alice.post(path + "/extend", new JsonObject().put("seconds", 900)).expect(200);
    assertThat(Instant.parse(extended.getString("expiresAt")))
        .isAfter(Instant.parse(changed.getString("expiresAt")));

    assertThat(alice.delete(path).expect(200).getString("state")).isEqualTo("released");
    alice.delete(path).expect(200);
    JsonObject ended = alice.post(path + "/extend", null).expectProblem(409, "hold-ended");
    assertThat(ended.getString("state")).isEqualTo("released");
    assertThat(stock(campaign).getInteger("held")).isZero();
  }

  @Test
  void anExtensionWithAKeyHappensOnce() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(10, null);
    String path = "/v1/holds/" + hold(shop, campaign, "alice", 1) + "/extend";
    JsonObject hour = new JsonObject().put("seconds", 3_600);

    Reply first = shop.post(path, "e", hour);
    Reply again = shop.post(path, "e", hour);

    assertThat(first.expect(200)).isEqualTo(again.expect(200));
    assertThat(first.replayed()).isFalse();
    assertThat(again.replayed()).isTrue();
    shop.post(path, "e", null).expectProblem(422, "idempotency-key-reused");
  }

  @Test
  void anotherBuyersHoldIsNotThere() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(10, null);
    String path = "/v1/holds/" + hold(shop, campaign, "alice", 1);
    Client mallory = server.buyer("mallory");

    mallory.get(path).expectProblem(404, "not-found");
    mallory.delete(path).expectProblem(404, "not-found");
    mallory.post(path + "/extend", null).expectProblem(404, "not-found");
    mallory
        .put(path, new JsonObject().put("items", new JsonArray().add(sku("A", 2))))
        .expectProblem(404, "not-found");
    mallory.post(holds(campaign), "m", cart("alice", sku("A", 1))).expectProblem(403, "forbidden");
    server.buyer("alice").get(path).expect(200);
  }

  @Test
  void aPausedOrClosedCampaignSellsNothingAndSaysWhy() throws Exception {
    Client shop = server.service();
    Client operator = server.operator();
    String campaign = server.drop(10, null);
    String hold = hold(shop, campaign, "alice", 1);
    String path = "/v1/campaigns/" + campaign;

    operator.post(path + "/pause", new JsonObject().put("reason", "A flood.")).expect(200);
    assertThat(
            shop.post(holds(campaign), "p", cart("bob", sku("A", 1)))
                .expectProblem(409, "campaign-paused")
                .getString("reason"))
        .isEqualTo("A flood.");
    operator.post(path + "/resume", null).expect(200);
    shop.post(holds(campaign), "r", cart("bob", sku("A", 1))).expect(201);
    operator.post(path + "/close", null).expect(200);
    shop.post(holds(campaign), "c", cart("bob", sku("A", 1)))
        .expectProblem(409, "campaign-not-open");
    shop.delete("/v1/holds/" + hold).expect(200);
  }

  @Test
  void anExpiredHoldGivesItsStockBackAtOnceToWhoNeedsIt() throws Exception {
    Client shop = server.service();
    String campaign = server.published(RunningServer.dropOf(1).put("holdSeconds", 1));
    String hold = hold(shop, campaign, "alice", 1);
    // Waits, in the database, until the hold's time is up by the database's own clock.
    server
        .database()
        .execute(
            "SELECT pg_sleep_until(max(expires_at)) FROM lockstep.hold WHERE scope = " + campaign);

    shop.post(holds(campaign), "next", cart("bob", sku("A", 1))).expect(201);
    assertThat(shop.get("/v1/holds/" + hold).expect(200).getString("state")).isEqualTo("expired");
    shop.post("/v1/holds/" + hold + "/extend", null).expectProblem(409, "hold-ended");
  }

  private static String holds(String campaign) {
    return "/v1/campaigns/" + campaign + "/holds";
  }

  private static String hold(Client client, String campaign, String buyer, int quantity)
      throws Exception {
    return client
        .post(holds(campaign), "setup-" + campaign, cart(buyer, sku("A", quantity)))
        .expect(201)
        .getString("id");
  }

  private static JsonObject stock(String campaign) throws Exception {
    return server.anyone().get("/v1/campaigns/" + campaign).expect(200);
  }

  private static JsonObject withoutState(JsonObject position) {
    JsonObject copy = position.copy();
    copy.remove("state");
    return copy;
  }
}
