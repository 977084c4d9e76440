package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.util.List;

/**
 * Whether a campaign's money and goods agree, by four witnesses: the gateway's own books, the
 * purchases, the stock and the campaign's book; and the server's own reconciliation.
 */
record MoneyAndGoods(RunningServer server, String campaign) {
  static MoneyAndGoods in(RunningServer server, String campaign) {
    return new MoneyAndGoods(server, campaign);
  }

  /** So many purchases are paid and sold, and nobody else has paid or got anything. */
  void agree(int completed) throws Exception {
    assertThat(charged()).as("charged and not given back").isEqualTo(completed);
    assertThat(count("purchase p WHERE p.status = 2 AND p.campaign = " + campaign))
        .as("completed purchases")
        .isEqualTo(completed);
    assertThat(soldHolds()).as("holds sold for money that was kept").isEqualTo(completed);
    assertThat(takings()).as("takings in the campaign's book").isEqualTo(kept());
    JsonObject report = server.operator().get("/v1/reconciliation").expect(200);
    assertThat(ofCampaign(report, "moneyWithoutGoods")).isEmpty();
    assertThat(ofCampaign(report, "goodsWithoutMoney")).isEmpty();
    assertThat(ofCampaign(report, "unsettled")).isEmpty();
    assertThat(server.operator().post("/v1/invariants/check", null).expect(200).getBoolean("ok"))
        .isTrue();
  }

  /** Intents of this campaign that succeeded and were not refunded, as the gateway has it. */
  int charged() {
    return number(
        "SELECT count(*) FROM gateway.intent WHERE status = 3 AND refunded = 0"
            + " AND metadata::json ->> 'purchase' LIKE '"
            + campaign
            + ".%'");
  }

  /** What the ledger says; 0 before the first sale. */
  private int takings() {
    return number(
        "SELECT coalesce(sum(balance), 0) FROM lockstep.account WHERE account = 2 AND book = "
            + campaign);
  }

  /** What was paid and not given back, as the purchases have it. */
  private int kept() {
    return number(
        "SELECT coalesce(sum(amount), 0) FROM lockstep_server.purchase"
            + " WHERE paid_at IS NOT NULL AND status <> 6 AND campaign = "
            + campaign);
  }

  private int soldHolds() {
    return number(
        "SELECT count(*) FROM lockstep.hold h WHERE h.state = 1 AND h.scope = "
            + campaign
            + " AND NOT EXISTS (SELECT 1 FROM lockstep_server.purchase p WHERE p.campaign = h.scope"
            + " AND p.hold = h.hold AND p.status IN (5, 6))");
  }

  private int count(String from) {
    return number("SELECT count(*) FROM lockstep_server." + from);
  }

  private int number(String sql) {
    return server.database().query(sql, row -> row.getInt(1)).get(0);
  }

  private List<Object> ofCampaign(JsonObject report, String list) {
    return report.getJsonArray(list).stream()
        .filter(entry -> ((JsonObject) entry).getString("campaign").equals(campaign))
        .toList();
  }
}
