package dev.lockstep.server;

import static dev.lockstep.server.Client.order;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.gateway.GatewayFaults;
import dev.lockstep.gateway.GatewayFaults.Answers;
import dev.lockstep.gateway.GatewayFaults.Webhooks;
import dev.lockstep.server.Client.Reply;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A signature says who sent an event, not that it is about the purchase's own payment or that the
 * money is right. What does not agree sells nothing, and is there for a person to see.
 */
@Timeout(120)
class MoneyThatDoesNotAgreeTest {
  // The timers of users, unless a test wants them to come.
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final String OTHER = "pi_of_somebody_else";

  @AfterEach
  void makeTheGatewayReliableAgain() {
    server.gateway().setFaults(GatewayFaults.NONE);
  }

  @ParameterizedTest
  @CsvSource({
    "another payment, 250, usd, intent",
    "its own payment, 1, usd, amount",
    "its own payment, 251, usd, amount",
    "its own payment, 0, usd, amount",
    "its own payment, 250, eur, currency",
    "its own payment, 250, jpy, currency"
  })
  void aSignedEventThatDoesNotAgreeCompletesNothing(
      String which, long amount, String currency, String kind) throws Exception {
    String campaign = server.drop(1, null);
    JsonObject waiting = waiting(campaign);
    double counted = counted(kind);
    String intent = which.startsWith("another") ? OTHER : payment(waiting);

    send(event(waiting, intent, "succeeded", amount, currency)).expect(200);

    JsonObject shown = show(waiting);
    assertThat(shown.getString("status")).isEqualTo("requiresAction");
    assertShown(waiting, kind, intent, amount, currency);
    assertThat(counted(kind)).isEqualTo(counted + 1);
    assertThat(stock(campaign).getInteger("sold")).isZero();

    // The right money is still welcome.
    server.gateway().authenticate(payment(waiting), true).toCompletableFuture().get();
    await(waiting, "completed");
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"canceled", "requires_payment_method", "requires_action"})
  void anotherPaymentDoesNotEndThePurchaseEither(String status) throws Exception {
    String campaign = server.drop(1, null);
    JsonObject waiting = waiting(campaign);

    send(event(waiting, OTHER, status, 0, "usd")).expect(200);

    assertThat(show(waiting).getString("status")).isEqualTo("requiresAction");
    assertThat(payment(show(waiting))).isEqualTo(payment(waiting));
    server.gateway().authenticate(payment(waiting), true).toCompletableFuture().get();
    await(waiting, "completed");
  }

  /** Somebody has paid twice; nobody would know. */
  @Test
  void otherMoneyForACompletedPurchaseIsShown() throws Exception {
    String campaign = server.drop(1, null);
    JsonObject bought = buy(campaign, "pm_card_visa").expect(201);

    send(event(bought, OTHER, "succeeded", 250, "usd")).expect(200);
    send(event(bought, OTHER, "succeeded", 250, "usd")).expect(200);

    assertShown(bought, "intent", OTHER, 250, "usd");
    assertThat(mismatches(bought)).as("noted once").hasSize(1);
    assertThat(show(bought).getString("status")).isEqualTo("completed");
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  /** Only the provider knows which payment was made under the purchase's key, so it is asked. */
  @Test
  void whileItsOwnPaymentIsUnknownAnotherOneDoesNotStandInForIt() throws Exception {
    String campaign = server.drop(1, null);
    server
        .gateway()
        .setFaults(
            GatewayFaults.NONE
                .withAnswers(Answers.errorsAfter(1))
                .withWebhooks(Webhooks.delayed(Duration.ofMinutes(5))));
    JsonObject pending = buy(campaign, "pm_card_visa").expect(202);
    assertThat(payment(pending)).isNull();

    send(event(pending, OTHER, "succeeded", 250, "usd")).expectProblem(503, "overloaded");
    assertThat(show(pending).getString("status")).isEqualTo("pending");

    server.gateway().setFaults(GatewayFaults.NONE);
    send(event(pending, OTHER, "succeeded", 250, "usd")).expect(200);

    JsonObject completed = await(pending, "completed");
    assertThat(payment(completed)).isNotEqualTo(OTHER);
    assertShown(pending, "intent", OTHER, 250, "usd");
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void moneyForAPurchaseThatHadNoPaymentIsShown() throws Exception {
    String campaign = server.drop(1, null);
    buy(campaign, "pm_card_nobody_has").expectProblem(402, "payment-failed");
    JsonObject failed =
        server
            .operator()
            .get("/v1/purchases?campaign=" + campaign)
            .expect(200)
            .getJsonArray("items")
            .getJsonObject(0);
    assertThat(payment(failed)).isNull();

    send(event(failed, OTHER, "succeeded", 250, "usd")).expect(200);

    assertThat(show(failed).getString("status")).isEqualTo("failed");
    assertShown(failed, "unproven", OTHER, 250, "usd");
    assertThat(stock(campaign).getInteger("free")).isEqualTo(1);
  }

  @Test
  void whatTheProviderAnswersIsComparedAsWell() throws Exception {
    String campaign = server.drop(1, null);
    JsonObject waiting = waiting(campaign);
    String intent = payment(waiting);
    server
        .database()
        .execute(
            "UPDATE gateway.intent SET amount = 1, status = 3 WHERE id = '%s'".formatted(intent));

    lookAt(waiting);

    Await.until("it is noted", () -> !mismatches(waiting).isEmpty());
    assertShown(waiting, "amount", intent, 1, "usd");
    assertThat(show(waiting).getString("status")).isEqualTo("requiresAction");
    assertThat(stock(campaign).getInteger("held")).isEqualTo(1);

    // Nobody waits for the right money for ever; the goods go back, the wrong money stays shown.
    server
        .database()
        .execute(
            "UPDATE lockstep_server.purchase SET deadline = now() WHERE id = '%s'"
                .formatted(uuid(waiting)));
    lookAt(waiting);
    JsonObject expired = await(waiting, "expired");
    assertThat(expired.getString("failure")).isEqualTo("payment_mismatch");
    assertThat(stock(campaign).getInteger("free")).isEqualTo(1);
    assertThat(mismatches(waiting)).hasSize(1);
  }

  @Test
  void aRefundOfOtherMoneyIsNotDone() throws Exception {
    String campaign = server.drop(1, null);
    JsonObject bought = buy(campaign, "pm_card_visa").expect(201);
    server
        .database()
        .execute(
            "UPDATE gateway.intent SET refunded = 100 WHERE id = '%s'".formatted(payment(bought)));

    server
        .operator()
        .post("/v1/purchases/" + bought.getString("id") + "/refund", "r", null)
        .expect(202);

    assertShown(bought, "refund_amount", payment(bought), 150, "usd");
    assertThat(show(bought).getString("status")).isEqualTo("refunding");
    assertThat(stock(campaign).getInteger("sold")).isEqualTo(1);
  }

  @Test
  void onlyOperatorsSeeWhatDoesNotAgree() throws Exception {
    String campaign = server.drop(1, null);
    JsonObject bought = buy(campaign, "pm_card_visa").expect(201);
    send(event(bought, OTHER, "succeeded", 250, "usd")).expect(200);
    String path = "/v1/purchases/" + bought.getString("id");

    server.service().get("/v1/payments/mismatches").expectProblem(403, "forbidden");
    for (Client client : List.of(server.service(), server.buyer("alice"))) {
      assertThat(client.get(path).expect(200).containsKey("mismatches")).isFalse();
    }
    JsonObject page = server.operator().get("/v1/payments/mismatches?limit=1").expect(200);
    assertThat(page.getJsonArray("items")).hasSize(1);
  }

  private static JsonObject waiting(String campaign) throws Exception {
    return buy(campaign, "pm_card_authenticationRequired").expect(202);
  }

  private static Reply buy(String campaign, String card) throws Exception {
    return server
        .service()
        .post("/v1/campaigns/" + campaign + "/purchases", "k", order("alice", card, sku("A", 1)));
  }

  private static void assertShown(
      JsonObject purchase, String kind, String intent, long amount, String currency)
      throws Exception {
    JsonObject noted = mismatches(purchase).get(0);
    assertThat(noted.getString("kind")).isEqualTo(kind);
    assertThat(noted.getString("payment")).isEqualTo(intent);
    assertThat(noted.getString("purchase")).isEqualTo(purchase.getString("id"));
    assertThat(noted.getJsonObject("money").getLong("amount")).isEqualTo(amount);
    assertThat(noted.getJsonObject("money").getString("currency")).isEqualToIgnoringCase(currency);
    assertThat(show(purchase).getJsonArray("mismatches")).contains(noted);
  }

  private static List<JsonObject> mismatches(JsonObject purchase) throws Exception {
    return server
        .operator()
        .get("/v1/payments/mismatches?limit=100")
        .expect(200)
        .getJsonArray("items")
        .stream()
        .map(JsonObject.class::cast)
        .filter(one -> one.getString("purchase").equals(purchase.getString("id")))
        .toList();
  }

  private static double counted(String kind) throws Exception {
    String line = "lockstep_payment_mismatches_total{kind=\"" + kind + "\"";
    return server
        .operator()
        .get("/metrics")
        .response()
        .body()
        .lines()
        .filter(one -> one.startsWith(line))
        .mapToDouble(one -> Double.parseDouble(one.substring(one.lastIndexOf(' ') + 1)))
        .sum();
  }

  private static String event(
      JsonObject purchase, String intent, String status, long received, String currency) {
    JsonObject object =
        new JsonObject()
            .put("id", intent)
            .put("object", "payment_intent")
            .put("status", status)
            .put("amount_received", received)
            .put("currency", currency)
            .put("metadata", new JsonObject().put("purchase", purchase.getString("id")));
    if (status.equals("requires_payment_method")) {
      object.put("last_payment_error", new JsonObject().put("code", "card_declined"));
    }
    return new JsonObject()
        .put("id", "evt_" + UUID.randomUUID())
        .put("object", "event")
        .put("type", "payment_intent." + status)
        .put("data", new JsonObject().put("object", object))
        .encode();
  }

  private static Reply send(String event) throws Exception {
    return StripeEvents.send(server, event);
  }

  private static void lookAt(JsonObject purchase) {
    server
        .database()
        .execute(
            "UPDATE lockstep_server.purchase SET due_at = now() WHERE id = '%s'"
                .formatted(uuid(purchase)));
  }

  private static JsonObject stock(String campaign) throws Exception {
    return server.anyone().get("/v1/campaigns/" + campaign).expect(200);
  }

  private static String payment(JsonObject purchase) {
    return purchase.getJsonObject("payment").getString("id");
  }

  private static JsonObject show(JsonObject purchase) throws Exception {
    return server.operator().get("/v1/purchases/" + purchase.getString("id")).expect(200);
  }

  private static JsonObject await(JsonObject purchase, String status) throws Exception {
    Await.until(
        "the purchase is " + status, () -> show(purchase).getString("status").equals(status));
    return show(purchase);
  }

  private static String uuid(JsonObject purchase) {
    String id = purchase.getString("id");
    return id.substring(id.indexOf('.') + 1);
  }
}
