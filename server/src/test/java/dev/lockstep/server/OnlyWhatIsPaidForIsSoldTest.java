package dev.lockstep.server;

import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.layer;
import static dev.lockstep.server.Client.order;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.gateway.GatewayFaults;
import dev.lockstep.gateway.GatewayFaults.Answers;
import dev.lockstep.hold.Actor;
import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldCommand.Change;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.Line;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.server.Client.Reply;
import dev.lockstep.tx.Transactor;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pay for one and get five: everything that somebody might try on the holds of a purchase. */
@Timeout(120)
class OnlyWhatIsPaidForIsSoldTest {
  @RegisterExtension static final RunningServer server = new RunningServer(RunningServer.PAYMENTS);

  private static final JsonObject FIVE =
      new JsonObject().put("items", cart("", sku("A", 5)).getJsonArray("items"));
  private static final JsonObject CARD = new JsonObject().put("paymentMethod", "pm_card_visa");

  @AfterEach
  void makeTheGatewayReliableAgain() {
    server.gateway().setFaults(GatewayFaults.NONE);
  }

  @Test
  void nobodyTouchesTheFirstHoldWhileItIsPaidFor() throws Exception {
    String campaign = server.drop(20, null);
    JsonObject waiting =
        buy(server.service(), campaign, order("alice", "pm_card_authenticationRequired", one()))
            .expect(202);

    attack(waiting.getString("hold"), "hold-in-checkout");

    server.gateway().authenticate(payment(waiting), true).toCompletableFuture().get();
    JsonObject completed = await(waiting, "completed");
    attack(completed.getString("hold"), "hold-ended");
    assertSold(campaign, 1);
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void nobodyTouchesTheHoldThatReplacesAnEndedOne() throws Exception {
    String campaign = server.drop(20, null);
    JsonObject paid = paidAndReplacedAndNotYetConfirmed(campaign);

    attack(paid.getString("hold"), "hold-in-checkout");

    lookAt(paid);
    JsonObject completed = await(paid, "completed");
    attack(completed.getString("hold"), "hold-ended");
    assertSold(campaign, 1);
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void theHoldOfALatePaymentHasAnIdThatNobodyCanWorkOut() throws Exception {
    String campaign = server.triangle(3, null);
    JsonObject pending = paidButUnanswered(campaign, order("alice", 3, "pm_card_visa"));
    server.endHoldOf(pending);
    BuyerId owner = new BuyerId(pending.getString("id"));
    // Whoever can work out the id takes it first, under a key with the purchase's name.
    Client named =
        new Client(
            server.url(),
            Optional.of(
                server
                    .operator()
                    .post(
                        "/v1/keys",
                        new JsonObject().put("role", "service").put("name", owner.value()))
                    .expect(201)
                    .getString("key")));
    for (String attempt : List.of("same", "other")) {
      named.post("/v1/campaigns/" + campaign + "/holds", attempt, cart("mallory", layer(1, 1)));
    }

    server.gateway().setFaults(GatewayFaults.NONE);

    JsonObject completed = await(pending, "completed");
    String hold = completed.getString("hold");
    assertThat(hold).isNotEqualTo(pending.getString("hold"));
    for (String attempt : List.of("same", "other")) {
      assertThat(hold).isNotEqualTo(campaign + "." + HoldId.forKey(owner, attempt));
    }
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  /** As if a change had slipped past every guard, before the money was there or after it. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aHoldThatWasChangedAllTheSameIsNotSoldForTheOldPrice(boolean replaced) throws Exception {
    String campaign = server.drop(20, null);
    JsonObject purchase =
        replaced
            ? paidAndReplacedAndNotYetConfirmed(campaign)
            : buy(
                    server.service(),
                    campaign,
                    order("alice", "pm_card_authenticationRequired", one()))
                .expect(202);
    change(purchase.getString("hold"), 5);

    if (replaced) {
      lookAt(purchase);
    } else {
      server.gateway().authenticate(payment(purchase), true).toCompletableFuture().get();
    }

    // What was paid for is there, so that is what the buyer gets.
    await(purchase, "completed");
    assertSold(campaign, 1);
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void theMoneyGoesBackWhenTheHoldWasChangedAndNothingElseIsToBeHad() throws Exception {
    String campaign = server.drop(20, null);
    JsonObject waiting =
        buy(server.service(), campaign, order("alice", "pm_card_authenticationRequired", one()))
            .expect(202);
    change(waiting.getString("hold"), 5);
    server.operator().post("/v1/campaigns/" + campaign + "/pause", null).expect(200);

    server.gateway().authenticate(payment(waiting), true).toCompletableFuture().get();

    await(waiting, "refunded");
    assertSold(campaign, 0);
    MoneyAndGoods.in(server, campaign).agree(0);
  }

  /** A hold that has been bought by a purchase is not bought by a second one. */
  @Test
  void aReplacementIsNotPaidForTwice() throws Exception {
    String campaign = server.drop(20, null);
    JsonObject paid = paidAndReplacedAndNotYetConfirmed(campaign);

    server
        .service()
        .post("/v1/holds/" + paid.getString("hold") + "/checkout", "c", CARD)
        .expectProblem(409, "hold-in-checkout");

    lookAt(paid);
    await(paid, "completed");
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  /** Everything that HTTP offers, by everybody there is. */
  private static void attack(String hold, String slug) throws Exception {
    String path = "/v1/holds/" + hold;
    Client buyer = server.buyer("alice");
    JsonObject before = server.operator().get(path).expect(200);
    for (Client mallory :
        List.of(server.buyer("mallory"), server.visitor(), server.anyone(), buyer)) {
      boolean own = mallory.equals(buyer);
      for (Reply reply :
          List.of(
              mallory.put(path, FIVE),
              mallory.delete(path),
              mallory.post(path + "/checkout", "attack " + slug, CARD))) {
        if (own) {
          reply.expectProblem(409, slug);
        } else {
          assertThat(reply.status()).isIn(401, 403, 404);
        }
      }
      mallory.post(path + "/extend", null);
      mallory.post(path + "/extend", "extend " + slug, null);
    }
    for (Client seller : List.of(server.service(), server.operator())) {
      seller.put(path, FIVE).expectProblem(409, slug);
      seller.delete(path).expectProblem(409, slug);
      seller.post(path + "/checkout", "attack " + slug, CARD).expectProblem(409, slug);
    }
    JsonObject after = server.operator().get(path).expect(200);
    assertThat(after.getJsonArray("items")).isEqualTo(before.getJsonArray("items"));
    assertThat(after.getString("state")).isEqualTo(before.getString("state"));
  }

  private static JsonObject one() {
    return sku("A", 1);
  }

  private static Reply buy(Client client, String campaign, JsonObject order) throws Exception {
    return client.post("/v1/campaigns/" + campaign + "/purchases", "k", order);
  }

  private static String payment(JsonObject purchase) {
    return purchase.getJsonObject("payment").getString("id");
  }

  private static void change(String hold, int quantity) {
    long campaign = Long.parseLong(hold.substring(0, hold.indexOf('.')));
    try (Holds holds = new Holds(new Transactor(server.database().dataSource()))) {
      assertThat(
              holds.call(
                  new Change(
                      new ScopeId(campaign),
                      HoldId.of(hold.substring(hold.indexOf('.') + 1)),
                      List.of(Line.of(new PoolId(1), quantity)),
                      Actor.operator("mallory"))))
          .isInstanceOf(Granted.class);
    }
  }

  /** The gateway has the money, and its answer is lost for as long as its faults are on. */
  private static JsonObject paidButUnanswered(String campaign, JsonObject order) throws Exception {
    server
        .gateway()
        .setFaults(
            GatewayFaults.NONE
                .withAnswers(Answers.never(1))
                .withWebhooks(GatewayFaults.Webhooks.delayed(Duration.ofSeconds(20))));
    return buy(server.service(), campaign, order).expect(202);
  }

  /**
   * As a server leaves it that is killed between taking other goods for a late payment and
   * confirming them, but for the time of the payment, which has its entry in the books; nobody
   * looks at it until {@link #lookAt}.
   */
  private static JsonObject paidAndReplacedAndNotYetConfirmed(String campaign) throws Exception {
    JsonObject pending = paidButUnanswered(campaign, order("alice", "pm_card_visa", one()));
    String id = uuid(pending.getString("id"));
    server
        .database()
        .execute(
            "UPDATE lockstep_server.purchase SET due_at = now() + interval '1 hour'"
                + " WHERE id = '%s'".formatted(id));
    server.endHoldOf(pending);
    String replacement =
        server
            .service()
            .post("/v1/campaigns/" + campaign + "/holds", "replacement", cart("alice", one()))
            .expect(201)
            .getString("id");
    server
        .database()
        .execute(
            """
            UPDATE lockstep_server.purchase SET hold = '%s', failure = 'paid_late',
              due_at = now() + interval '1 hour',
              intent = (SELECT i.id FROM gateway.intent i
                        WHERE i.metadata::json ->> 'purchase' = '%s')
            WHERE id = '%s'"""
                .formatted(uuid(replacement), pending.getString("id"), id));
    server.gateway().setFaults(GatewayFaults.NONE);
    return show(pending);
  }

  private static void lookAt(JsonObject purchase) {
    server
        .database()
        .execute(
            "UPDATE lockstep_server.purchase SET due_at = now() WHERE id = '%s'"
                .formatted(uuid(purchase.getString("id"))));
  }

  private static JsonObject show(JsonObject purchase) throws Exception {
    return server.operator().get("/v1/purchases/" + purchase.getString("id")).expect(200);
  }

  private static JsonObject await(JsonObject purchase, String status) throws Exception {
    Await.until(
        "the purchase is " + status, () -> show(purchase).getString("status").equals(status));
    return show(purchase);
  }

  private static void assertSold(String campaign, int sold) throws Exception {
    JsonObject stock = server.anyone().get("/v1/campaigns/" + campaign).expect(200);
    assertThat(stock.getInteger("sold")).isEqualTo(sold);
    assertThat(stock.getInteger("held")).isZero();
  }

  private static String uuid(String id) {
    return id.substring(id.indexOf('.') + 1);
  }
}
