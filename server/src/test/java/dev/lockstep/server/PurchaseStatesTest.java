package dev.lockstep.server;

import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.order;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.gateway.GatewayFaults;
import dev.lockstep.gateway.GatewayFaults.Answers;
import dev.lockstep.server.Client.Reply;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Purchases that end in every way there is, against the diagram in docs/concepts.md. A trigger
 * notes every move, so that none goes unseen.
 */
@Timeout(180)
class PurchaseStatesTest {
  @RegisterExtension static final RunningServer server = new RunningServer(RunningServer.PAYMENTS);

  private static final String VISA = "pm_card_visa";
  private static final String DECLINED = "pm_card_chargeDeclined";
  private static final String CHALLENGED = "pm_card_authenticationRequired";

  private static final String NOTE_MOVES =
      """
      CREATE TABLE public.move (came smallint, went smallint);
      CREATE FUNCTION public.note_move() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO public.move VALUES (CASE WHEN TG_OP = 'UPDATE' THEN OLD.status END, NEW.status);
        RETURN NULL;
      END $$;
      CREATE TRIGGER note_insert AFTER INSERT ON lockstep_server.purchase
        FOR EACH ROW EXECUTE FUNCTION public.note_move();
      CREATE TRIGGER note_update AFTER UPDATE ON lockstep_server.purchase
        FOR EACH ROW WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION public.note_move();
      """;

  private record Move(String from, String to) {}

  /** What each move is called; one that is not seen, or not in here, fails the test. */
  private static final Map<Move, String> CAUSES =
      Map.ofEntries(
          Map.entry(new Move(StateDiagram.NEW, "pending"), "the hold is taken"),
          Map.entry(new Move("pending", "requiresAction"), "the bank asks the buyer"),
          Map.entry(new Move("pending", "completed"), "paid"),
          Map.entry(new Move("pending", "requiresPaymentMethod"), "declined"),
          Map.entry(new Move("pending", "failed"), "the last card is declined"),
          Map.entry(new Move("pending", "expired"), "time is up, payment canceled"),
          Map.entry(new Move("pending", "refunding"), "paid too late, nothing left"),
          Map.entry(new Move("requiresAction", "pending"), "paid too late"),
          Map.entry(new Move("requiresAction", "completed"), "paid"),
          Map.entry(new Move("requiresAction", "requiresPaymentMethod"), "declined"),
          Map.entry(new Move("requiresAction", "failed"), "given up, last card declined"),
          Map.entry(new Move("requiresAction", "expired"), "time is up, payment canceled"),
          Map.entry(new Move("requiresPaymentMethod", "pending"), "another card"),
          Map.entry(new Move("requiresPaymentMethod", "completed"), "paid elsewhere"),
          Map.entry(new Move("requiresPaymentMethod", "failed"), "given up"),
          Map.entry(new Move("requiresPaymentMethod", "expired"), "time is up, payment canceled"),
          Map.entry(new Move("failed", "pending"), "paid too late"),
          Map.entry(new Move("expired", "pending"), "paid too late"),
          Map.entry(new Move("completed", "refunding"), "an operator refunds"),
          Map.entry(new Move("refunding", "completed"), "a part is back"),
          Map.entry(new Move("refunding", "refunded"), "the money is back"));

  @Test
  void aPurchaseMovesAsItsDiagramShows() throws Exception {
    server.database().execute(NOTE_MOVES);
    paidAndRefunded();
    paidAndRefundedInPart();
    declinedForGood();
    declinedAndGivenUp();
    declinedAndExpired();
    declinedAndPaidElsewhere();
    challengePassed();
    paidAfterItFailed();
    paidAfterItExpired();
    paidWhenTheHoldHasEnded();
    expiredWithoutAPayment();
    paidTooLateAndNothingLeft();

    List<String> statuses = statuses();
    Set<Move> seen = new HashSet<>(moves(statuses));
    assertThat(seen).isEqualTo(CAUSES.keySet());
    StateDiagram diagram = new StateDiagram("purchase", statuses);
    CAUSES.forEach((move, cause) -> diagram.moved(move.from(), cause, move.to()));
    diagram.checkPage();
  }

  /** As the API describes them, in the order of their codes in the table. */
  private static List<String> statuses() throws Exception {
    JsonObject schema =
        server
            .anyone()
            .get("/openapi.json")
            .expect(200)
            .getJsonObject("paths")
            .getJsonObject("/v1/purchases/{id}")
            .getJsonObject("get")
            .getJsonObject("responses")
            .getJsonObject("200")
            .getJsonObject("content")
            .getJsonObject("application/json")
            .getJsonObject("schema");
    return schema.getJsonObject("properties").getJsonObject("status").getJsonArray("enum").stream()
        .map(String.class::cast)
        .toList();
  }

  private static List<Move> moves(List<String> statuses) {
    return server
        .database()
        .query(
            "SELECT coalesce(came, -1), went FROM public.move",
            row ->
                new Move(
                    row.getInt(1) < 0 ? StateDiagram.NEW : statuses.get(row.getInt(1)),
                    statuses.get(row.getInt(2))));
  }

  private static void paidAndRefunded() throws Exception {
    JsonObject bought = buy(server.drop(1, null), VISA).expect(201);
    server.operator().post("/v1/purchases/" + bought.getString("id") + "/refund", "r", null);
    await(bought, "refunded");
  }

  private static void paidAndRefundedInPart() throws Exception {
    JsonObject bought = buy(server.drop(1, null), VISA).expect(201);
    server
        .operator()
        .post(
            "/v1/purchases/" + bought.getString("id") + "/refund",
            "p",
            new JsonObject().put("amount", 1))
        .expect(200);
    await(bought, "completed");
  }

  private static JsonObject declined(String campaign) throws Exception {
    return buy(campaign, DECLINED).expectProblem(402, "payment-failed").getJsonObject("purchase");
  }

  private static void declinedForGood() throws Exception {
    JsonObject purchase = declined(server.drop(1, null));
    for (int i = 2; i <= 5; i++) {
      server
          .service()
          .post(
              "/v1/purchases/" + purchase.getString("id") + "/pay",
              "p" + i,
              new JsonObject().put("paymentMethod", DECLINED))
          .expectProblem(402, "payment-failed");
    }
    await(purchase, "failed");
  }

  private static void declinedAndGivenUp() throws Exception {
    giveUp(declined(server.drop(1, null)));
  }

  private static void declinedAndExpired() throws Exception {
    await(declined(shortDrop()), "expired");
  }

  /** With the secret of the challenge that failed, at the provider. */
  private static void declinedAndPaidElsewhere() throws Exception {
    JsonObject waiting = buy(server.drop(1, null), CHALLENGED).expect(202);
    authenticate(waiting, false);
    await(waiting, "requiresPaymentMethod");
    tellOfSuccess(waiting);
    await(waiting, "completed");
  }

  private static void giveUp(JsonObject purchase) throws Exception {
    server.service().delete("/v1/purchases/" + purchase.getString("id")).expect(200);
  }

  private static void challengePassed() throws Exception {
    JsonObject waiting = buy(server.drop(1, null), CHALLENGED).expect(202);
    authenticate(waiting, true);
    await(waiting, "completed");
  }

  private static void paidAfterItFailed() throws Exception {
    JsonObject waiting = buy(server.drop(1, null), CHALLENGED).expect(202);
    giveUp(waiting);
    await(waiting, "failed");
    tellOfSuccess(waiting);
    await(waiting, "completed");
  }

  private static void paidAfterItExpired() throws Exception {
    JsonObject waiting = buy(shortDrop(), CHALLENGED).expect(202);
    await(waiting, "expired");
    tellOfSuccess(waiting);
    await(waiting, "completed");
  }

  private static void paidWhenTheHoldHasEnded() throws Exception {
    JsonObject waiting = buy(server.drop(1, null), CHALLENGED).expect(202);
    server.endHoldOf(waiting);
    authenticate(waiting, true);
    await(waiting, "completed");
  }

  /**
   * The provider is still at it when the time is up. A payment that was merely not answered would
   * not do: the timer may be sending it again when the provider recovers, and it is paid.
   */
  private static void expiredWithoutAPayment() throws Exception {
    server
        .gateway()
        .setFaults(
            GatewayFaults.NONE
                .withDelays(GatewayFaults.Delays.processing(1))
                .withWebhooks(GatewayFaults.Webhooks.delayed(Duration.ofSeconds(60))));
    JsonObject pending = buy(shortDrop(), VISA).expect(202);
    Await.until("its time is up", () -> column(pending, "expiring::int") == 1);
    // So that no timer is left that saw it before.
    long looks = column(pending, "looks");
    Await.until("timers have looked again", () -> column(pending, "looks") >= looks + 4);
    server
        .database()
        .execute(
            "UPDATE gateway.intent SET status = 0, error_code = 'card_declined', decline_code = 'x'"
                + " WHERE status = 5 AND metadata::json ->> 'purchase' = '%s'"
                    .formatted(pending.getString("id")));
    await(pending, "expired");
    server.gateway().setFaults(GatewayFaults.NONE);
  }

  private static long column(JsonObject purchase, String column) {
    return server
        .database()
        .queryLong(
            "SELECT %s FROM lockstep_server.purchase WHERE id = '%s'"
                .formatted(column, uuid(purchase.getString("id"))));
  }

  private static void paidTooLateAndNothingLeft() throws Exception {
    String campaign = server.drop(1, null);
    server
        .gateway()
        .setFaults(
            GatewayFaults.NONE
                .withAnswers(Answers.never(1))
                .withWebhooks(GatewayFaults.Webhooks.delayed(Duration.ofSeconds(20))));
    JsonObject pending = buy(campaign, VISA).expect(202);
    server.endHoldOf(pending);
    server
        .service()
        .post("/v1/campaigns/" + campaign + "/holds", "h", cart("bob", sku("A", 1)))
        .expect(201);
    server.gateway().setFaults(GatewayFaults.NONE);
    await(pending, "refunded");
  }

  private static String shortDrop() throws Exception {
    return server.published(RunningServer.dropOf(1).put("holdSeconds", 1));
  }

  private static Reply buy(String campaign, String method) throws Exception {
    return server
        .service()
        .post("/v1/campaigns/" + campaign + "/purchases", "k", order("alice", method, sku("A", 1)));
  }

  private static void authenticate(JsonObject waiting, boolean passed) throws Exception {
    server.gateway().authenticate(payment(waiting), passed).toCompletableFuture().get();
  }

  private static String payment(JsonObject purchase) {
    return purchase.getJsonObject("payment").getString("id");
  }

  /**
   * An event of the provider: the payment that had failed, or was canceled, succeeded after all.
   */
  private static void tellOfSuccess(JsonObject purchase) throws Exception {
    JsonObject intent =
        new JsonObject()
            .put("id", payment(purchase))
            .put("object", "payment_intent")
            .put("status", "succeeded")
            .put("amount_received", 250)
            .put("currency", "usd")
            .put("metadata", new JsonObject().put("purchase", purchase.getString("id")));
    String event =
        new JsonObject()
            .put("id", "evt_" + uuid(purchase.getString("id")))
            .put("object", "event")
            .put("type", "payment_intent.succeeded")
            .put("data", new JsonObject().put("object", intent))
            .encode();
    StripeEvents.send(server, event).expect(200);
  }

  private static void await(JsonObject purchase, String status) throws Exception {
    String path = "/v1/purchases/" + purchase.getString("id");
    Await.until(
        "the purchase is " + status,
        () -> server.operator().get(path).expect(200).getString("status").equals(status));
  }

  private static String uuid(String id) {
    return id.substring(id.indexOf('.') + 1);
  }
}
