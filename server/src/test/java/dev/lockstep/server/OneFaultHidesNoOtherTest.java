package dev.lockstep.server;

import static dev.lockstep.server.Client.order;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Client.Reply;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What goes wrong with one campaign or purchase stays there: the others are looked after. */
@Timeout(200)
class OneFaultHidesNoOtherTest {
  @RegisterExtension static final RunningServer server = new RunningServer(RunningServer.PAYMENTS);

  @Test
  void aLockedCampaignKeepsNoOtherFromBeingFoundAndPausedAndIsPausedOnceItIsFree()
      throws Exception {
    String locked = sold();
    String other = sold();
    try (Connection connection = server.database().connection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute("SELECT 1 FROM lockstep.pool WHERE scope = " + locked + " FOR UPDATE");
      forgetPurchases(locked);
      Await.until("the locked campaign is found", () -> findings(locked, "soldUnpaid") == 1);
      forgetPurchases(other);
      Await.until("the other is paused", () -> pausedForMoney(other));
      assertThat(pausedForMoney(locked)).isFalse();
      connection.rollback();
    }
    Await.until("the free campaign is paused", () -> pausedForMoney(locked));
  }

  @Test
  void asManyFindingsAsAreKeptHideNoOtherCampaignAndAreAllSeenAgain() throws Exception {
    String many = sold();
    String other = sold();
    server
        .database()
        .execute(
            "INSERT INTO lockstep.hold SELECT (jsonb_populate_record(h,"
                + " jsonb_build_object('hold', gen_random_uuid()))).*"
                + " FROM lockstep.hold h, generate_series(1, 10000) WHERE h.scope = "
                + many);
    server
        .database()
        .execute(
            "INSERT INTO lockstep_server.reconciliation_finding (kind, campaign, subject, hold,"
                + " buyer, amount, currency, since, detail, found_at, seen_at, acted)"
                + " SELECT 'soldUnpaid', scope, scope || '.' || hold, scope || '.' || hold, buyer,"
                + " 0, '', now(), 'planted', now(), now() - interval '1 h', true"
                + " FROM lockstep.hold h WHERE scope = "
                + many
                + " AND NOT EXISTS (SELECT 1 FROM lockstep_server.purchase p"
                + " WHERE p.campaign = h.scope AND p.hold = h.hold) ON CONFLICT DO NOTHING");
    forgetPurchases(other);
    Await.until("the other is paused", () -> pausedForMoney(other));
    Await.until(
        "all are seen again",
        () ->
            number(
                    "SELECT count(*) FROM lockstep_server.reconciliation_finding"
                        + " WHERE seen_at < now() - interval '30 min' AND campaign = "
                        + many)
                == 0);
    assertThat(findings(many, "soldUnpaid")).isGreaterThanOrEqualTo(10_000);
  }

  @Test
  void anUnreadablePurchaseIsFoundAndHidesNoOther() throws Exception {
    String unreadable = sold();
    String other = sold();
    server
        .database()
        .execute(
            "UPDATE lockstep_server.purchase SET items = '[{\"sku\":\"A\",\"quantity\":\"1\"}]'"
                + " WHERE campaign = "
                + unreadable);
    Await.until("it is found", () -> findings(unreadable, "otherThanPaid") == 1);
    forgetPurchases(other);
    Await.until("the other is found", () -> findings(other, "soldUnpaid") == 1);
  }

  @Test
  void aSaleThatCannotBeWrittenAfterTheMoneyIsTakenIsPendingAndCompletedByTheTimer()
      throws Exception {
    String campaign = server.drop(10, null);
    server
        .database()
        .execute(
            "CREATE FUNCTION refuse_sale() RETURNS trigger LANGUAGE plpgsql AS"
                + " $$ BEGIN RAISE EXCEPTION 'locked' USING ERRCODE = '55P03'; END $$");
    server
        .database()
        .execute(
            "CREATE TRIGGER refuse_sale BEFORE UPDATE ON lockstep_server.purchase FOR EACH ROW"
                + " WHEN (NEW.status = 2 AND NEW.campaign = "
                + campaign
                + ") EXECUTE FUNCTION refuse_sale()");
    Client shop = server.service();
    Reply reply = buy(shop, campaign);
    server.database().execute("DROP TRIGGER refuse_sale ON lockstep_server.purchase");
    JsonObject purchase = reply.expect(202);
    assertThat(purchase.getString("status")).isEqualTo("pending");
    Await.until(
        "the timer completes it",
        () ->
            number(
                    "SELECT count(*) FROM lockstep_server.purchase WHERE status = 2"
                        + " AND campaign = "
                        + campaign)
                == 1);
    JsonObject again = buy(shop, campaign).expect(201);
    assertThat(again.getString("id")).isEqualTo(purchase.getString("id"));
  }

  @Test
  void aPurchaseThatCannotBeReadIsSetAsideAndTheTimerGoesOnWithTheOthers() throws Exception {
    String poisonous = sold();
    String broken =
        "UPDATE lockstep_server.purchase SET status = 0, paid_at = NULL, items = '{',"
            + " due_at = now() - interval '1 d', deadline = now() + interval '1 h'"
            + " WHERE campaign = "
            + poisonous;
    String other = sold();
    server.database().execute(broken);
    // Paid, and its sale was lost with the process.
    server
        .database()
        .execute(
            "UPDATE lockstep_server.purchase SET status = 0, due_at = now() WHERE campaign = "
                + other);

    Await.until("the other is completed by the timer", () -> status(other) == 2);
    Await.until("it is named", () -> findings(poisonous, "setAside") == 1);
    assertThat(status(poisonous)).isZero();

    // A person mends it; then nothing is left of it.
    server
        .database()
        .execute(
            "UPDATE lockstep_server.purchase SET paid_at = now(), due_at = now(), items ="
                + " (SELECT items FROM lockstep_server.purchase WHERE campaign = "
                + other
                + ") WHERE campaign = "
                + poisonous);
    Await.until("it is completed", () -> status(poisonous) == 2);
    Await.until("it is forgotten", () -> findings(poisonous, "setAside") == 0);
  }

  @Test
  void aPurchaseWhoseStepFailsEachTimeIsNamed() throws Exception {
    String campaign = sold();
    // Known to be paid, by a payment that nobody knows.
    server
        .database()
        .execute(
            "UPDATE lockstep_server.purchase SET status = 0, intent = NULL, due_at = now()"
                + " WHERE campaign = "
                + campaign);
    Await.until("it is named", () -> findings(campaign, "setAside") == 1);
  }

  @Test
  void aRefundThatCannotBeWrittenAfterTheMoneyWentIsUnderWayAndFinishedByTheTimer()
      throws Exception {
    String campaign = server.drop(10, null);
    String id = buy(server.service(), campaign).expect(201).getString("id");
    server
        .database()
        .execute(
            "CREATE FUNCTION refuse_refund() RETURNS trigger LANGUAGE plpgsql AS"
                + " $$ BEGIN RAISE EXCEPTION 'locked' USING ERRCODE = '55P03'; END $$");
    server
        .database()
        .execute(
            "CREATE TRIGGER refuse_refund BEFORE UPDATE ON lockstep_server.purchase FOR EACH ROW"
                + " WHEN (NEW.status = 6 AND NEW.campaign = "
                + campaign
                + ") EXECUTE FUNCTION refuse_refund()");
    Reply reply = server.operator().post("/v1/purchases/" + id + "/refund", "r", null);
    server.database().execute("DROP TRIGGER refuse_refund ON lockstep_server.purchase");

    assertThat(reply.expect(202).getString("status")).isEqualTo("refunding");
    Await.until("the timer finishes it", () -> status(campaign) == 6);
  }

  @Test
  void aPoolThatCannotBePausedKeepsNoBookFromBeingChecked() throws Exception {
    String locked = sold();
    String other = sold();
    server.database().execute("UPDATE lockstep.pool SET held = held + 1 WHERE scope = " + locked);
    server
        .database()
        .execute(
            "UPDATE lockstep.account SET version = version + 1 WHERE account = 2 AND book = "
                + other);
    try (Connection connection = server.database().connection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute("SELECT 1 FROM lockstep.pool WHERE scope = " + locked + " FOR UPDATE");
      server.operator().post("/v1/invariants/check", null).expect(200);
      Await.until("the other is paused", () -> isPaused(other));
      assertThat(isPaused(locked)).isFalse();
      connection.rollback();
    }
    server.operator().post("/v1/invariants/check", null).expect(200);
    Await.until("the free campaign is paused", () -> isPaused(locked));
  }

  private static boolean isPaused(String id) throws Exception {
    return server.anyone().get("/v1/campaigns/" + id).expect(200).getBoolean("paused");
  }

  private static long status(String campaign) {
    return number("SELECT status FROM lockstep_server.purchase WHERE campaign = " + campaign);
  }

  /** A campaign of which one is sold. */
  private static String sold() throws Exception {
    String campaign = server.drop(10, null);
    buy(server.service(), campaign).expect(201);
    return campaign;
  }

  private static Reply buy(Client shop, String campaign) throws Exception {
    return shop.post(
        "/v1/campaigns/" + campaign + "/purchases",
        "key",
        order("buyer", "pm_card_visa", sku("A", 1)));
  }

  private static void forgetPurchases(String campaign) {
    server.database().execute("DELETE FROM lockstep_server.purchase WHERE campaign = " + campaign);
  }

  private static boolean pausedForMoney(String id) throws Exception {
    JsonObject campaign = server.anyone().get("/v1/campaigns/" + id).expect(200);
    return campaign.getBoolean("paused")
        && String.valueOf(campaign.getString("pauseReason")).contains("Money and goods");
  }

  private static long findings(String campaign, String kind) {
    return number(
        "SELECT count(*) FROM lockstep_server.reconciliation_finding WHERE campaign = "
            + campaign
            + " AND kind = '"
            + kind
            + "'");
  }

  private static long number(String sql) {
    return server.database().queryLong(sql);
  }
}
