package dev.lockstep.server;

import static dev.lockstep.server.Client.order;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.gateway.GatewayFaults;
import dev.lockstep.gateway.GatewayFaults.Answers;
import dev.lockstep.gateway.GatewayFaults.Webhooks;
import dev.lockstep.server.Client.Reply;
import dev.lockstep.testkit.Race;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Events of the payment provider: who is believed, and how often. */
@Timeout(120)
class WebhookTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  @AfterEach
  void makeTheGatewayReliableAgain() {
    server.gateway().setFaults(GatewayFaults.NONE);
  }

  @Test
  void anEventIsBelievedIfItsSignatureIsRightAndOfNow() throws Exception {
    JsonObject waiting = waiting(server.drop(1, null));
    String event = succeeded("evt_believed", waiting);
    Instant now = Instant.now();

    StripeEvents.send(server, event, StripeEvents.signature(event, "whsec_of_somebody_else", now))
        .expectProblem(400, "invalid-signature");
    StripeEvents.send(
            server, event + " ", StripeEvents.signature(event, RunningServer.WEBHOOK_SECRET, now))
        .expectProblem(400, "invalid-signature");
    StripeEvents.send(
            server,
            event,
            StripeEvents.signature(event, RunningServer.WEBHOOK_SECRET, now.minusSeconds(310)))
        .expectProblem(400, "invalid-signature");
    StripeEvents.send(
            server,
            event,
            StripeEvents.signature(event, RunningServer.WEBHOOK_SECRET, now.plusSeconds(320)))
        .expectProblem(400, "invalid-signature");
    StripeEvents.send(server, event, "t=" + now.getEpochSecond())
        .expectProblem(400, "invalid-signature");
    server.anyone().post("/v1/webhooks/stripe", null).expectProblem(400, "invalid-signature");
    assertThat(status(waiting)).isEqualTo("requiresAction");
    assertThat(uses("evt_believed")).isZero();

    StripeEvents.send(
            server,
            event,
            StripeEvents.signature(event, RunningServer.WEBHOOK_SECRET, now.minusSeconds(240)))
        .expect(200);
    assertThat(status(waiting)).isEqualTo("completed");
    assertThat(uses("evt_believed")).isEqualTo(1);
  }

  @Test
  void anEventSentTwentyTimesAtOnceCountsOnce() throws Exception {
    String campaign = server.drop(5, null);
    JsonObject waiting = waiting(campaign);
    String event = succeeded("evt_twenty", waiting);
    String signature = StripeEvents.signature(event, RunningServer.WEBHOOK_SECRET, Instant.now());

    List<Reply> replies =
        Race.<Reply>of(20).run(i -> StripeEvents.send(server, event, signature)).valuesOrThrow();

    assertThat(replies).allSatisfy(reply -> reply.expect(200));
    assertThat(status(waiting)).isEqualTo("completed");
    assertThat(uses("evt_twenty")).isEqualTo(1);
    JsonObject stock = server.anyone().get("/v1/campaigns/" + campaign).expect(200);
    assertThat(stock.getInteger("sold")).isEqualTo(1);
  }

  @Test
  void anOldEventDoesNotUndoWhatWasSettledSince() throws Exception {
    String campaign = server.drop(5, null);
    JsonObject waiting = waiting(campaign);
    server
        .gateway()
        .authenticate(waiting.getJsonObject("payment").getString("id"), true)
        .toCompletableFuture()
        .get();
    awaitStatus(waiting, "completed");

    String event = event("evt_old", waiting, "payment_intent.canceled", "canceled");
    StripeEvents.send(
            server,
            event,
            StripeEvents.signature(event, RunningServer.WEBHOOK_SECRET, Instant.now()))
        .expect(200);

    assertThat(status(waiting)).isEqualTo("completed");
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void anEventAboutSomethingElseIsTakenAndIgnored() throws Exception {
    String event =
        new JsonObject()
            .put("id", "evt_other")
            .put("type", "customer.created")
            .put("data", new JsonObject().put("object", new JsonObject().put("object", "customer")))
            .encode();
    StripeEvents.send(
            server,
            event,
            StripeEvents.signature(event, RunningServer.WEBHOOK_SECRET, Instant.now()))
        .expect(200);
    assertThat(uses("evt_other")).isZero();
  }

  @Test
  void duplicatedAndReorderedEventsChangeNothing() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(50, null);
    server
        .gateway()
        .setFaults(GatewayFaults.NONE.withWebhooks(new Webhooks(1, Duration.ZERO, 0.5)));

    List<Reply> replies =
        Race.<Reply>of(30)
            .run(i -> buy(shop, campaign, "k" + i, order("b" + i, "pm_card_visa", sku("A", 1))))
            .valuesOrThrow();

    assertThat(replies).allSatisfy(reply -> reply.expect(201));
    awaitDelivery();
    MoneyAndGoods.in(server, campaign).agree(30);
  }

  @Test
  void anEventThatTellsWhatIsKnownIsNotWrittenDown() throws Exception {
    String campaign = server.drop(5, null);
    // So that the answer is there first.
    server
        .gateway()
        .setFaults(GatewayFaults.NONE.withWebhooks(Webhooks.delayed(Duration.ofSeconds(1))));
    JsonObject known =
        buy(server.service(), campaign, "k", order("alice", "pm_card_visa", sku("A", 1)))
            .expect(201);
    awaitDelivery();
    // Not remembered any more: the table tells.
    String again = succeeded("evt_again", known);
    StripeEvents.send(
            server,
            again,
            StripeEvents.signature(again, RunningServer.WEBHOOK_SECRET, Instant.now()))
        .expect(200);

    assertThat(status(known)).isEqualTo("completed");
    assertThat(events(campaign)).isZero();
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void aLateEventSettlesWhatTheLostAnswerDidNot() throws Exception {
    Client shop = server.service();
    String campaign = server.drop(5, null);
    server
        .gateway()
        .setFaults(
            GatewayFaults.NONE
                .withAnswers(Answers.errorsAfter(1))
                .withWebhooks(Webhooks.delayed(Duration.ofSeconds(1))));

    JsonObject pending =
        buy(shop, campaign, "k", order("alice", "pm_card_visa", sku("A", 1))).expect(202);
    assertThat(pending.getString("status")).isEqualTo("pending");

    awaitStatus(pending, "completed");
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  private static JsonObject waiting(String campaign) throws Exception {
    return buy(
            server.service(),
            campaign,
            "k",
            order("alice", "pm_card_authenticationRequired", sku("A", 1)))
        .expect(202);
  }

  private static Reply buy(Client client, String campaign, String key, JsonObject order)
      throws Exception {
    return client.post("/v1/campaigns/" + campaign + "/purchases", key, order);
  }

  private static String succeeded(String id, JsonObject purchase) {
    return event(id, purchase, "payment_intent.succeeded", "succeeded");
  }

  private static String event(String id, JsonObject purchase, String type, String status) {
    JsonObject intent =
        new JsonObject()
            .put("id", purchase.getJsonObject("payment").getString("id"))
            .put("object", "payment_intent")
            .put("status", status)
            .put("amount_received", 250)
            .put("currency", "usd")
            .put("metadata", new JsonObject().put("purchase", purchase.getString("id")));
    return new JsonObject()
        .put("id", id)
        .put("object", "event")
        .put("type", type)
        .put("data", new JsonObject().put("object", intent))
        .encodePrettily();
  }

  private static String status(JsonObject purchase) throws Exception {
    return server
        .operator()
        .get("/v1/purchases/" + purchase.getString("id"))
        .expect(200)
        .getString("status");
  }

  private static void awaitStatus(JsonObject purchase, String wanted) throws Exception {
    Await.until("the purchase is " + wanted, () -> status(purchase).equals(wanted));
  }

  private static void awaitDelivery() throws Exception {
    Await.until(
        "every event is delivered",
        () -> server.database().queryLong("SELECT count(*) FROM gateway.webhook") == 0);
  }

  private static long uses(String event) {
    return server
        .database()
        .queryLong("SELECT count(*) FROM lockstep_server.payment_event WHERE event = ?", event);
  }

  private static long events(String campaign) {
    return server
        .database()
        .queryLong(
            "SELECT count(*) FROM lockstep_server.payment_event WHERE campaign = ?",
            Long.parseLong(campaign));
  }
}
