package dev.lockstep.server;

import static dev.lockstep.server.Client.order;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.Race;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What parts money from goods is found by the server itself, whoever did it, and goods without
 * money stop the sale. Nobody asks for the reconciliation here until it has found what was planted.
 */
@Timeout(120)
class ReconciliationTest {
  @RegisterExtension static final RunningServer server = new RunningServer(RunningServer.PAYMENTS);
  @RegisterExtension static final StreamStage streams = new StreamStage(server);

  private static final Findings findings = new Findings(server);

  /**
   * What a hand does, and what is to be found.
   *
   * @param list where the report has it
   * @param pauses whether the sale stops
   * @param sql on the one purchase of the campaign :c, 500 for two of A; its payment is :p
   */
  private record Planted(String kind, String list, boolean pauses, String sql) {}

  private static final String MONEY = "moneyWithoutGoods";
  private static final String GOODS = "goodsWithoutMoney";
  private static final String LATER =
      ", changed_at = now() - interval '1 h', due_at = now() + interval '1 d' WHERE campaign = :c";

  private static final List<Planted> PLANTED =
      List.of(
          new Planted(
              "paidNotSold", MONEY, false, "UPDATE lockstep.hold SET state = 2 WHERE scope = :c"),
          new Planted(
              "paidLate", MONEY, false, "UPDATE lockstep_server.purchase SET status = 0" + LATER),
          new Planted(
              "paidAndEnded",
              MONEY,
              false,
              "UPDATE lockstep_server.purchase SET status = 3 WHERE campaign = :c"),
          new Planted(
              "lessThanPaid",
              MONEY,
              false,
              "UPDATE lockstep.hold SET quantities = '{1}' WHERE scope = :c"),
          new Planted(
              "refundNotDone",
              MONEY,
              false,
              "UPDATE lockstep_server.purchase SET status = 5" + LATER),
          new Planted(
              "soldUnpaid",
              GOODS,
              true,
              "DELETE FROM lockstep_server.purchase WHERE campaign = :c"),
          new Planted(
              "moreThanPaid",
              GOODS,
              true,
              "UPDATE lockstep.hold SET quantities = '{5}' WHERE scope = :c"),
          new Planted(
              "otherThanPaid",
              GOODS,
              true,
              "UPDATE lockstep.hold SET pools = '{2}' WHERE scope = :c"),
          new Planted(
              "refundedNotReturned",
              GOODS,
              true,
              "UPDATE lockstep_server.purchase SET status = 6 WHERE campaign = :c"),
          new Planted(
              "unsettled",
              "unsettled",
              false,
              "UPDATE lockstep_server.purchase SET status = 1, paid_at = NULL,"
                  + " deadline = now() - interval '1 h'"
                  + LATER),
          new Planted(
              "booksDiffer",
              "books",
              false,
              "UPDATE lockstep.transfer SET amount = 400, posted = 400 WHERE book = :c"),
          new Planted(
              "refundedThere",
              "provider",
              false,
              "INSERT INTO gateway.refund (id, intent, amount, currency, metadata, created_at)"
                  + " SELECT concat('re_', substr(id, 4)), id, amount, currency, '{}', now()"
                  + " FROM gateway.intent WHERE :p"),
          new Planted(
              "partlyRefundedThere",
              "provider",
              false,
              "INSERT INTO gateway.refund (id, intent, amount, currency, metadata, created_at)"
                  + " SELECT concat('re_', substr(id, 4)), id, 100, currency, '{}', now()"
                  + " FROM gateway.intent WHERE :p"),
          new Planted(
              "sharedHold",
              MONEY,
              false,
              "INSERT INTO lockstep_server.purchase SELECT (jsonb_populate_record(p,"
                  + " jsonb_build_object('id', gen_random_uuid(), 'intent', NULL))).*"
                  + " FROM lockstep_server.purchase p WHERE campaign = :c"),
          new Planted(
              "setAside",
              "unsettled",
              false,
              "UPDATE lockstep_server.purchase SET status = 0, paid_at = NULL, items = '{',"
                  + " due_at = now() WHERE campaign = :c"),
          new Planted(
              "amountDiffers",
              "provider",
              false,
              "UPDATE gateway.intent SET amount = amount - 1 WHERE :p"),
          new Planted("paymentUnknown", "provider", false, "DELETE FROM gateway.intent WHERE :p"),
          new Planted("notCharged", GOODS, true, "UPDATE gateway.intent SET status = 2 WHERE :p"));

  @Test
  void whatAHandPartsHereOrAtTheProviderIsFoundAndCountedWithoutBeingAskedFor() throws Exception {
    Map<Planted, String> campaigns = new LinkedHashMap<>();
    Map<Planted, Double> before = new HashMap<>();
    for (Planted one : PLANTED) {
      String campaign = server.published(twoProducts());
      buy(campaign, "one", 2);
      campaigns.put(one, campaign);
      before.put(one, findings.counted(one.kind()));
    }

    campaigns.forEach(
        (one, campaign) ->
            server
                .database()
                .execute(
                    one.sql()
                        .replace(":c", campaign)
                        .replace(
                            ":p",
                            "metadata::json ->> 'purchase' LIKE '%s.%%'".formatted(campaign))));

    for (Map.Entry<Planted, String> planted : campaigns.entrySet()) {
      Planted one = planted.getKey();
      String campaign = planted.getValue();
      findings.assertFound(one.kind(), one.list(), campaign, before.getOrDefault(one, 0.0));
      if (one.pauses()) {
        Await.until("the sale stops", () -> campaign(campaign).getBoolean("paused"));
        assertThat(campaign(campaign).getString("pauseReason"))
            .contains("Money and goods disagree");
      }
    }
  }

  @Test
  void aPaymentThatSomebodyMadeInTheProvidersConsoleIsFoundAndForgottenOnceItIsGivenBack()
      throws Exception {
    double before = findings.counted("chargedUnknown");
    server
        .database()
        .execute(
            "INSERT INTO gateway.intent (id, amount, currency, status, client_secret, metadata,"
                + " created_at) VALUES ('pi_console', 700, 'usd', 3, 's',"
                + " '{\"purchase\":\"7.00000000-0000-7000-8000-000000000000\"}', now())");

    findings.assertFound("chargedUnknown", "provider", "0", before);

    server
        .database()
        .execute(
            "INSERT INTO gateway.refund VALUES"
                + " ('re_console', 'pi_console', 700, 'usd', NULL, '{}', now())");
    String known =
        "SELECT count(*) FROM lockstep_server.reconciliation_finding WHERE subject = 'pi_console'";
    Await.until("it is forgotten", () -> server.database().queryLong(known) == 0);
  }

  @Test
  void aChargeThatWasNotMadeInOurNameIsCountedAndNoFinding() throws Exception {
    long before = findings.latest().getLong("foreignCharges");
    server
        .database()
        .execute(
            "INSERT INTO gateway.intent (id, amount, currency, status, client_secret, metadata,"
                + " created_at) VALUES ('pi_foreign', 700, 'usd', 3, 's', '{\"order\":\"7\"}',"
                + " now())");
    server
        .database()
        .execute(
            "INSERT INTO gateway.refund VALUES"
                + " ('re_foreign', 'pi_foreign', 700, 'usd', NULL, '{}', now())");
    // Marked as suspect by an earlier release: that is taken back.
    server
        .database()
        .execute(
            "INSERT INTO lockstep_server.provider_look VALUES ('pi_foreign', NULL, NULL, now(), now())");

    Await.until("it is counted", () -> findings.latest().getLong("foreignCharges") > before);
    String suspects =
        "SELECT count(*) FROM lockstep_server.provider_look WHERE object LIKE '%_foreign'";
    Await.until("it is no suspect", () -> server.database().queryLong(suspects) == 0);
    String findings =
        "SELECT count(*) FROM lockstep_server.reconciliation_finding WHERE subject LIKE '%_foreign'";
    assertThat(server.database().queryLong(findings)).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "{\"amount\":99}"})
  void aRefundThatFailsLongAfterItWasDoneIsFound(String part) throws Exception {
    String campaign = server.drop(10, null);
    String purchase = buy(campaign, "one", 1);
    server
        .operator()
        .post("/v1/purchases/" + purchase + "/refund", "r", new JsonObject(part))
        .expect(200);
    double before = findings.counted("refundUnknown");
    String intents =
        "(SELECT intent FROM lockstep_server.purchase WHERE campaign = " + campaign + ")";
    server
        .database()
        .execute(
            "UPDATE gateway.intent SET created_at = created_at - interval '20 d' WHERE id IN "
                + intents);
    server
        .database()
        .execute(
            "UPDATE gateway.refund SET created_at = created_at - interval '5 d', status = 3"
                + " WHERE intent IN "
                + intents);
    server
        .database()
        .execute(
            "UPDATE lockstep_server.purchase SET created_at = created_at - interval '20 d',"
                + " changed_at = changed_at - interval '5 d' WHERE campaign = "
                + campaign);

    findings.assertFound("refundUnknown", "provider", campaign, before);
  }

  @Test
  void aPartRefundedThereOfAPurchaseThatIsRefundedHereInTheEndIsNoOtherAmount() throws Exception {
    String campaign = server.drop(10, null);
    String purchase = buy(campaign, "one", 2);
    server.operator().post("/v1/purchases/" + purchase + "/refund", "r", null).expect(200);
    String own = "(SELECT intent FROM lockstep_server.purchase WHERE campaign = " + campaign + ")";
    // As two refunds, of 400 here and of 100 in the console.
    server.database().execute("UPDATE gateway.refund SET amount = 400 WHERE intent IN " + own);
    server
        .database()
        .execute(
            "INSERT INTO gateway.refund (id, intent, amount, currency, metadata, created_at)"
                + " SELECT concat(id, 'x'), intent, 100, currency, '{}', created_at"
                + " FROM gateway.refund WHERE intent IN "
                + own);
    String looked = "SELECT count(*) FROM lockstep_server.provider_look WHERE object IN " + own;
    Await.until("it is looked at", () -> server.database().queryLong(looked) > 0);
    Await.until("it agrees", () -> server.database().queryLong(looked) == 0);

    assertThat(Findings.of(findings.latest(), "provider", campaign)).isEmpty();
  }

  @Test
  void aRefundThatTheProviderDoesNotKnowIsFound() throws Exception {
    String campaign = server.drop(10, null);
    String purchase = buy(campaign, "one", 1);
    server.operator().post("/v1/purchases/" + purchase + "/refund", "r", null).expect(200);
    double before = findings.counted("refundUnknown");

    server
        .database()
        .execute(
            "DELETE FROM gateway.refund WHERE intent IN (SELECT intent FROM"
                + " lockstep_server.purchase WHERE campaign = "
                + campaign
                + ")");

    findings.assertFound("refundUnknown", "provider", campaign, before);
  }

  @Test
  void anAutomaticPauseIsWrittenDownAndToldOnTheStreamAndAnOperatorMayResume() throws Exception {
    streams.define("sales", streams.webhook("hook", "/sales"));
    String campaign = server.drop(10, null);
    buy(campaign, "one", 1);
    String change = "UPDATE lockstep.hold SET quantities = '{%d}' WHERE scope = %s";
    // The check of every minute would see it, too, and might be the first to pause.
    server
        .database()
        .execute(
            "UPDATE lockstep.job SET due = now() + interval '1 h', version = version + 1"
                + " WHERE kind = 'invariants'");

    server.database().execute(change.formatted(5, campaign));

    Await.until("the sale stops", () -> campaign(campaign).getBoolean("paused"));
    JsonArray actions =
        server
            .operator()
            .get("/v1/campaigns/" + campaign + "/actions")
            .expect(200)
            .getJsonArray("items");
    JsonObject action = actions.getJsonObject(actions.size() - 1);
    assertThat(action.getString("action")).isEqualTo("pause");
    assertThat(action.getString("actor")).isEqualTo("lockstep: reconciliation");
    assertThat(action.getString("reason")).contains("250", "1250");
    Await.until(
        "the stream tells",
        () ->
            streams.events("sales", campaign).stream()
                .anyMatch(event -> event.getString("type").equals("campaign.paused")));

    server.operator().post("/v1/campaigns/" + campaign + "/resume", null).expect(200);
    // It still disagrees, and is looked at again and again; who resumed knows.
    String seen = "SELECT count(*) FROM lockstep_server.reconciliation_finding WHERE campaign = %s";
    String looks =
        "SELECT max(seen_at) > now() - interval '1 s' FROM lockstep_server.reconciliation_finding"
            + " WHERE campaign = "
            + campaign;
    server.operator().get("/v1/reconciliation").expect(200);
    assertThat(server.database().query(looks, row -> row.getBoolean(1))).containsExactly(true);
    assertThat(campaign(campaign).getBoolean("paused")).isFalse();

    server.database().execute(change.formatted(1, campaign));
    Await.until(
        "what agrees again is forgotten",
        () -> server.database().queryLong(seen.formatted(campaign)) == 0);
  }

  @Test
  void aBusySaleWithRefundsAndDeclinedCardsRaisesNoAlarm() throws Exception {
    String campaign = server.published(twoProducts());
    Client shop = server.service();
    String purchases = "/v1/campaigns/" + campaign + "/purchases";
    Race.<Boolean>of(8)
        .run(
            caller -> {
              for (int i = 0; i < 25; i++) {
                String card = i % 5 == 4 ? "pm_card_chargeDeclined" : "pm_card_visa";
                Client.Reply reply =
                    shop.post(
                        purchases,
                        "busy-" + caller + "-" + i,
                        order("buyer-" + caller, card, sku(i % 2 == 0 ? "A" : "B", 1 + i % 3)));
                if (reply.status() == 201 && i % 4 == 0) {
                  server
                      .operator()
                      .post(
                          "/v1/purchases/" + reply.json().getString("id") + "/refund",
                          "refund-" + caller + "-" + i,
                          null);
                }
                // Asked all the time, on top of what it does by itself.
                JsonObject report = server.operator().get("/v1/reconciliation").expect(200);
                for (String list : List.of(MONEY, GOODS, "unsettled", "books", "provider")) {
                  assertThat(Findings.of(report, list, campaign)).isEmpty();
                }
              }
              return true;
            })
        .valuesOrThrow();
    assertThat(campaign(campaign).getBoolean("paused")).isFalse();
  }

  private static String buy(String campaign, String key, int quantity) throws Exception {
    return server
        .service()
        .post(
            "/v1/campaigns/" + campaign + "/purchases",
            key,
            order("buyer", "pm_card_visa", sku("A", quantity)))
        .expect(201)
        .getString("id");
  }

  private static JsonObject twoProducts() {
    JsonObject drop = RunningServer.dropOf(1_000);
    JsonObject other = drop.getJsonArray("products").getJsonObject(0).copy().put("sku", "B");
    drop.getJsonArray("products").add(other);
    return drop;
  }

  private static JsonObject campaign(String id) throws Exception {
    return server.anyone().get("/v1/campaigns/" + id).expect(200);
  }
}
