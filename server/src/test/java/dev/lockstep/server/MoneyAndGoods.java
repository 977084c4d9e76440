package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.util.List;

/**
 * Whether a campaign's money and goods agree, by four witnesses: the gateway's own books, the
 * purchases, the stock and the campaign's book; and the server's own reconciliation.
 */
public record MoneyAndGoods(RunningServer server, String campaign) {
  public static MoneyAndGoods in(RunningServer server, String campaign) {
    return new MoneyAndGoods(server, campaign);
  }

  /** So many purchases are paid and sold, and nobody else has paid or got anything. */
  public void agree(int completed) throws Exception {
    assertThat(charged()).as("charged and not given back").isEqualTo(completed);
    assertThat(count("purchase p WHERE p.status = 2 AND p.campaign = " + campaign))
        .as("completed purchases")
        .isEqualTo(completed);
    assertThat(soldHolds()).as("holds sold for money that was kept").isEqualTo(completed);
    assertThat(takings()).as("takings in the campaign's book").isEqualTo(kept());
    assertThat(chargedFor())
        .as("each completed purchase: what its buyer was charged")
        .isEqualTo(bought("p.amount"));
    assertThat(bought(WORTH))
        .as("each completed purchase: what the goods that were sold for it cost")
        .isEqualTo(bought("p.amount"));
    assertThat(bought("(SELECT sum(q) FROM unnest(h.quantities) q)"))
        .as("each completed purchase: how many were sold for it")
        .isEqualTo(
            bought(
                "(SELECT sum((i ->> 'quantity')::int) FROM jsonb_array_elements(p.items::jsonb) i)"));
    JsonObject report = server.operator().get("/v1/reconciliation").expect(200);
    assertThat(ofCampaign(report, "moneyWithoutGoods")).isEmpty();
    assertThat(ofCampaign(report, "goodsWithoutMoney")).isEmpty();
    assertThat(ofCampaign(report, "unsettled")).isEmpty();
    assertThat(ofCampaign(report, "books")).isEmpty();
    assertThat(server.operator().post("/v1/invariants/check", null).expect(200).getBoolean("ok"))
        .isTrue();
  }

  /** What a hold's lines cost, by the campaign's prices: pools are its layers, or its products. */
  private static final String WORTH =
      """
      (SELECT sum(l.quantity * coalesce(c.layer_prices[l.pool],
                                        (c.products -> (l.pool::int - 1) ->> 'price')::bigint))
       FROM lockstep_server.campaign c, unnest(h.pools, h.quantities) AS l (pool, quantity)
       WHERE c.id = p.campaign)""";

  /** A number for each completed purchase, of its row p and its sold hold h. */
  private List<String> bought(String number) {
    return texts(
        "SELECT p.id || ' ' || "
            + number
            + " FROM lockstep_server.purchase p JOIN lockstep.hold h ON h.scope = p.campaign"
            + " AND h.hold = p.hold AND h.state = 1 WHERE p.status = 2 AND p.campaign = "
            + campaign
            + " ORDER BY p.id");
  }

  /** By the gateway's books: the intents of each completed purchase, less what went back. */
  private List<String> chargedFor() {
    return texts(
        "SELECT p.id || ' ' || (SELECT sum(i.amount - i.refunded) FROM gateway.intent i"
            + " WHERE i.status = 3 AND i.id = p.intent AND upper(i.currency) = p.currency"
            + " AND i.metadata::json ->> 'purchase' = p.campaign || '.' || p.id)"
            + " FROM lockstep_server.purchase p WHERE p.status = 2 AND p.campaign = "
            + campaign
            + " ORDER BY p.id");
  }

  private List<String> texts(String sql) {
    return server.database().query(sql, row -> row.getString(1));
  }

  /** Intents of this campaign that succeeded and were not refunded, as the gateway has it. */
  public int charged() {
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
