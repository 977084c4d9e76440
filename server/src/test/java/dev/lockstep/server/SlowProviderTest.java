package dev.lockstep.server;

import static dev.lockstep.server.Client.order;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.gateway.GatewayFaults;
import dev.lockstep.gateway.GatewayFaults.Answers;
import dev.lockstep.gateway.GatewayFaults.Delays;
import dev.lockstep.gateway.GatewayFaults.Webhooks;
import dev.lockstep.server.Client.Reply;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A provider that says "not yet", or that cannot say: nothing is taken for done that is not. */
@Timeout(120)
class SlowProviderTest {
  @RegisterExtension static final RunningServer server = new RunningServer(RunningServer.PAYMENTS);

  private static final GatewayFaults LATE_EVENTS =
      GatewayFaults.NONE.withWebhooks(Webhooks.delayed(Duration.ofSeconds(60)));

  @AfterEach
  void makeTheGatewayReliableAgain() {
    server.gateway().setFaults(GatewayFaults.NONE);
  }

  @Test
  void aRefundThatIsPendingIsNotDone() throws Exception {
    String campaign = server.drop(1, null);
    JsonObject bought = buy(campaign, "pm_card_visa").expect(201);
    server.gateway().setFaults(LATE_EVENTS.withDelays(Delays.pendingRefunds(1)));

    assertThat(refund(bought).expect(202).getString("status")).isEqualTo("refunding");
    awaitLooks(bought, 3);
    assertThat(status(bought)).isEqualTo("refunding");
    assertThat(stock(campaign).getInteger("sold"))
        .as("goods come back with the money")
        .isEqualTo(1);
    assertThat(refunds(bought)).hasSize(1);

    settleRefund(bought, "succeeded");
    await(bought, "refunded");
    assertThat(stock(campaign).getInteger("sold")).isZero();
    assertThat(refunds(bought)).hasSize(1);
    MoneyAndGoods.in(server, campaign).agree(0);
  }

  @Test
  void anEventTellsAtOnceThatAPendingRefundIsDone() throws Exception {
    String campaign = server.drop(1, null);
    JsonObject bought = buy(campaign, "pm_card_visa").expect(201);
    server.gateway().setFaults(GatewayFaults.NONE.withDelays(Delays.pendingRefunds(1)));
    refund(bought).expect(202);
    // No timer comes to it.
    server
        .database()
        .execute(
            "UPDATE lockstep_server.purchase SET due_at = now() + interval '1 hour' WHERE id = '%s'"
                .formatted(uuid(bought)));

    settleRefund(bought, "succeeded");

    await(bought, "refunded");
    MoneyAndGoods.in(server, campaign).agree(0);
  }

  @Test
  void aRefundThatFailedIsShownAndTriedAgain() throws Exception {
    for (String failure : List.of("failed", "canceled")) {
      String campaign = server.drop(1, null);
      JsonObject bought = buy(campaign, "pm_card_visa").expect(201);
      server.gateway().setFaults(LATE_EVENTS.withDelays(Delays.pendingRefunds(1)));
      refund(bought).expect(202);

      settleRefund(bought, failure);
      awaitLooks(bought, 2);
      assertThat(status(bought)).isEqualTo("refunding");
      assertThat(stock(campaign).getInteger("sold")).isEqualTo(1);
      Await.until("it is tried again", () -> refunds(bought).size() > 1);

      server.gateway().setFaults(GatewayFaults.NONE);
      settleRefund(bought, "succeeded");
      await(bought, "refunded");
      assertThat(refunds(bought)).containsExactly(failure, "succeeded");
      MoneyAndGoods.in(server, campaign).agree(0);
    }
  }

  @Test
  void aRefundThatNeedsTheBuyerWaitsForIt() throws Exception {
    String campaign = server.drop(1, null);
    JsonObject bought = buy(campaign, "pm_card_visa").expect(201);
    server.gateway().setFaults(LATE_EVENTS.withDelays(Delays.pendingRefunds(1)));
    refund(bought).expect(202);

    settleRefund(bought, "requires_action");
    awaitLooks(bought, 2);
    assertThat(status(bought)).isEqualTo("refunding");
    assertThat(refunds(bought)).containsExactly("requires_action");

    settleRefund(bought, "succeeded");
    await(bought, "refunded");
  }

  @Test
  void anErrorAboutTheKeyIsNoDecline() throws Exception {
    String campaign = server.drop(5, null);
    server.gateway().setFaults(LATE_EVENTS.withAnswers(Answers.idempotencyErrors(1)));

    Reply reply = buy(campaign, "pm_card_visa");

    assertThat(reply.status()).isIn(201, 202);
    await(reply.json(), "completed");
    server.gateway().setFaults(GatewayFaults.NONE);
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  @Test
  void anErrorAboutTheKeyOfARefundIsNoEnd() throws Exception {
    String campaign = server.drop(5, null);
    JsonObject bought = buy(campaign, "pm_card_visa").expect(201);
    server.gateway().setFaults(LATE_EVENTS.withAnswers(Answers.idempotencyErrors(1)));

    refund(bought);

    await(bought, "refunded");
    assertThat(refunds(bought)).hasSize(1);
    MoneyAndGoods.in(server, campaign).agree(0);
  }

  @Test
  void aPaymentThatIsProcessingIsWaitedFor() throws Exception {
    String campaign = server.drop(1, null);
    server.gateway().setFaults(LATE_EVENTS.withDelays(Delays.processing(1)));

    JsonObject pending = buy(campaign, "pm_card_visa").expect(202);
    awaitLooks(pending, 2);
    assertThat(status(pending)).isEqualTo("pending");
    assertThat(stock(campaign).getInteger("free")).isZero();

    settle(pending, true);
    await(pending, "completed");
    MoneyAndGoods.in(server, campaign).agree(1);
  }

  /** Whether it can be canceled changes: the answer of a minute ago must not be taken for it. */
  @Test
  void aPaymentThatWasProcessingWhenItsTimeWasUpIsCanceledAfterAll() throws Exception {
    String campaign = server.published(RunningServer.dropOf(1).put("holdSeconds", 1));
    server.gateway().setFaults(LATE_EVENTS.withDelays(Delays.processing(1)));
    JsonObject pending = buy(campaign, "pm_card_visa").expect(202);
    Await.until(
        "its time is up",
        () ->
            server
                    .database()
                    .queryLong(
                        "SELECT count(*) FROM lockstep_server.purchase WHERE expiring AND id = '%s'"
                            .formatted(uuid(pending)))
                == 1);
    awaitLooks(pending, 4);
    assertThat(stock(campaign).getInteger("held")).as("kept while it may be paid").isEqualTo(1);

    settle(pending, false);

    await(pending, "expired");
    assertThat(stock(campaign).getInteger("free")).isEqualTo(1);
    MoneyAndGoods.in(server, campaign).agree(0);
  }

  private static Reply buy(String campaign, String card) throws Exception {
    return server
        .service()
        .post("/v1/campaigns/" + campaign + "/purchases", "k", order("alice", card, sku("A", 1)));
  }

  private static Reply refund(JsonObject purchase) throws Exception {
    return server
        .operator()
        .post("/v1/purchases/" + purchase.getString("id") + "/refund", "r", null);
  }

  /** And no event tells of it. */
  private static void settle(JsonObject purchase, boolean paid) {
    String columns =
        paid ? "status = 3" : "status = 0, error_code = 'card_declined', decline_code = 'x'";
    server
        .database()
        .execute(
            "UPDATE gateway.intent SET %s WHERE status = 5 AND metadata::json ->> 'purchase' = '%s'"
                .formatted(columns, purchase.getString("id")));
  }

  /** The newest one. */
  private static void settleRefund(JsonObject purchase, String outcome) throws Exception {
    List<String> ids = ofRefunds(purchase, "r.id");
    assertThat(
            server
                .gateway()
                .settleRefund(ids.get(ids.size() - 1), outcome)
                .toCompletableFuture()
                .get())
        .isTrue();
  }

  /** Oldest first. */
  private static List<String> refunds(JsonObject purchase) {
    return ofRefunds(
        purchase,
        "(ARRAY['succeeded', 'pending', 'requires_action', 'failed', 'canceled'])[r.status + 1]");
  }

  private static List<String> ofRefunds(JsonObject purchase, String column) {
    return server
        .database()
        .query(
            "SELECT %s FROM gateway.refund r JOIN gateway.intent i ON i.id = r.intent"
                    .formatted(column)
                + " WHERE i.metadata::json ->> 'purchase' = '%s' ORDER BY r.id"
                    .formatted(purchase.getString("id")),
            row -> row.getString(1));
  }

  /** Until a timer has looked so often, or somebody else has ended it. */
  private static void awaitLooks(JsonObject purchase, int looks) throws Exception {
    long before = looks(purchase);
    Await.until(
        "timers have looked",
        () ->
            looks(purchase) >= before + looks
                || !List.of("pending", "refunding").contains(status(purchase)));
  }

  private static long looks(JsonObject purchase) {
    return server
        .database()
        .queryLong(
            "SELECT looks FROM lockstep_server.purchase WHERE id = '%s'".formatted(uuid(purchase)));
  }

  private static JsonObject stock(String campaign) throws Exception {
    return server.anyone().get("/v1/campaigns/" + campaign).expect(200);
  }

  private static String status(JsonObject purchase) throws Exception {
    return server
        .operator()
        .get("/v1/purchases/" + purchase.getString("id"))
        .expect(200)
        .getString("status");
  }

  private static void await(JsonObject purchase, String status) throws Exception {
    Await.until("the purchase is " + status, () -> status(purchase).equals(status));
  }

  private static String uuid(JsonObject purchase) {
    String id = purchase.getString("id");
    return id.substring(id.indexOf('.') + 1);
  }
}
