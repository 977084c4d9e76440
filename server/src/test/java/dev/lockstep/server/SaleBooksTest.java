package dev.lockstep.server;

import static dev.lockstep.server.Client.order;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.Race;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A sale posts what it takes and what it gives back to the book of its campaign. */
@Timeout(120)
class SaleBooksTest {
  @RegisterExtension static final RunningServer server = new RunningServer(RunningServer.PAYMENTS);

  private static final int BUYERS = 20;

  @Test
  void theBooksOfASaleBalanceAndSayWhatWasTakenAndGivenBack() throws Exception {
    String campaign = server.drop(100, null);
    Client shop = server.service();
    String purchases = "/v1/campaigns/" + campaign + "/purchases";

    List<JsonObject> bought =
        Race.<JsonObject>of(BUYERS)
            .run(
                i ->
                    shop.post(purchases, "b" + i, order("buyer-" + i, "pm_card_visa", sku("A", 1)))
                        .expect(201))
            .valuesOrThrow();
    shop.post(purchases, "no", order("poor", "pm_card_chargeDeclined", sku("A", 1)))
        .expectProblem(402, "payment-failed");
    long price = bought.get(0).getJsonObject("total").getLong("amount");
    String refunded = bought.get(0).getString("id");
    server.operator().post("/v1/purchases/" + refunded + "/refund", "r", null);
    Await.until(
        "the refund is done",
        () ->
            shop.get("/v1/purchases/" + refunded)
                .expect(200)
                .getString("status")
                .equals("refunded"));

    JsonObject buyers = account(campaign, 1);
    JsonObject takings = account(campaign, 2);
    assertThat(takings.getLong("balance")).isEqualTo((BUYERS - 1) * price);
    assertThat(buyers.getLong("balance")).isEqualTo(-(BUYERS - 1) * price);
    assertThat(takings.getLong("version"))
        .as("one entry a payment and a refund")
        .isEqualTo(BUYERS + 1);
    assertThat(takings.getString("campaign")).isEqualTo(campaign);
    assertThat(
            server
                .operator()
                .get("/v1/trial-balance?campaign=" + campaign)
                .expect(200)
                .getJsonArray("items")
                .getJsonObject(0)
                .getString("difference"))
        .isEqualTo("0");
    // The transfer of a payment has the id of its purchase.
    assertThat(
            server
                .operator()
                .get("/v1/transfers/" + bought.get(1).getString("id"))
                .expect(200)
                .getLong("amount"))
        .isEqualTo(price);
    MoneyAndGoods.in(server, campaign).agree(BUYERS - 1);
  }

  /** What is changed beside the server is found, and the sale stops. */
  @Test
  void aCampaignWhoseBooksAreWrongStopsSelling() throws Exception {
    String campaign = server.drop(10, null);
    Client shop = server.service();
    String purchases = "/v1/campaigns/" + campaign + "/purchases";
    shop.post(purchases, "1", order("b", "pm_card_visa", sku("A", 1))).expect(201);
    String change =
        "UPDATE lockstep.account SET balance = balance %s 1 WHERE account = 2 AND book = %s";

    server.database().execute(change.formatted("+", campaign));
    JsonObject report = server.operator().post("/v1/invariants/check", null).expect(200);

    assertThat(report.getBoolean("ok")).isFalse();
    assertThat(report.getJsonArray("violations").encode())
        .contains("trial_balance", "account_entries", "\"" + campaign + ".2\"");
    shop.post(purchases, "2", order("b", "pm_card_visa", sku("A", 1)))
        .expectProblem(409, "campaign-paused");

    server.database().execute(change.formatted("-", campaign));
    assertThat(server.operator().post("/v1/invariants/check", null).expect(200).getBoolean("ok"))
        .isTrue();
  }

  private static JsonObject account(String campaign, int number) throws Exception {
    return server.operator().get("/v1/accounts/" + campaign + "." + number).expect(200);
  }
}
