package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Checks in a database with more purchases than one statement should look at: by index, in slices,
 * and nothing is left out. The same with a hundred times as many rows is measured in the docs.
 */
@Timeout(120)
class ManyPurchasesTest {
  @RegisterExtension static final RunningServer server = new RunningServer(RunningServer.PAYMENTS);

  private static final int SOLD = 10_000;
  private static final int ALL = 3 * SOLD;
  private static final List<String> LARGE =
      List.of("hold", "stock_audit", "purchase", "transfer", "entry");

  private static String campaign = "";

  /** One of three holds was sold, one after the other, and paid for. */
  @BeforeAll
  static void load() throws Exception {
    campaign = server.published(RunningServer.dropOf(10 * SOLD));
    String rows =
        """
        INSERT INTO lockstep.hold (scope, hold, buyer, fingerprint, state, created_at, expires_at,
          ended_at, ended_by, pools, quantities)
        SELECT :c, md5(i::text)::uuid, 'b' || i, i, CASE WHEN i <= :s THEN 1 ELSE 2 END,
          now() - interval '3 d' + i * interval '1 ms', now(), now(), 'x', '{1}', '{1}'
        FROM generate_series(1, :n) i;
        INSERT INTO lockstep.stock_audit (scope, pool, seq, hold, cause, actor, held_before, held_after,
          sold_before, sold_after, at)
        SELECT :c, 1, 2 * i - 1 + k, md5(i::text)::uuid,
          CASE WHEN k = 0 THEN 0 WHEN i <= :s THEN 2 ELSE 3 END, 'x', k, 1 - k, least(i - 1, :s),
          least(i - 1 + k, :s), now()
        FROM generate_series(1, :n) i, generate_series(0, 1) k;
        UPDATE lockstep.pool SET sold = :s, audit_seq = 2 * :n WHERE scope = :c;
        INSERT INTO lockstep_server.purchase (campaign, id, hold, buyer, status, amount, currency, items,
          payment_method, intent, paid_at, created_by, created_at, changed_at, deadline, due_at)
        SELECT :c, md5(i::text)::uuid, md5(i::text)::uuid, 'b' || i, 2, 250, 'USD',
          '[{"sku":"A","quantity":1,"price":250,"positions":[]}]', 'pm_card_visa', 'pi_' || i,
          now() - interval '3 d', 'x', now() - interval '3 d' + i * interval '1 ms', now(), now(), now()
        FROM generate_series(1, :s) i;
        INSERT INTO lockstep.book VALUES (:c) ON CONFLICT DO NOTHING;
        INSERT INTO lockstep.account (book, account, name, currency, floor, balance, version, created_at,
          changed_at)
        SELECT :c, a, 'x', 'USD', NULL, (2 * a - 3) * 250 * :s, :s, now() - interval '4 d', now()
        FROM generate_series(1, 2) a;
        INSERT INTO lockstep.transfer (book, transfer, source, target, amount, posted, state, created_at,
          ended_at)
        SELECT :c, md5(i::text)::uuid, 1, 2, 250, 250, 1, now(), now() FROM generate_series(1, :s) i;
        INSERT INTO lockstep.entry (book, account, version, transfer, kind, amount, balance, pending, at)
        SELECT :c, a, i, md5(i::text)::uuid, 0, (2 * a - 3) * 250, (2 * a - 3) * 250 * i, 0, now()
        FROM generate_series(1, :s) i, generate_series(1, 2) a;
        ANALYZE"""
            .replace(":c", campaign)
            .replace(":s", String.valueOf(SOLD))
            .replace(":n", String.valueOf(ALL));
    // At once: what is loaded in parts does not agree in between, and the server looks all the
    // time.
    server.database().execute("BEGIN; " + rows + "; COMMIT");
  }

  @Test
  void everythingIsGoneThroughInSlicesAndNoLargeTableIsScanned() throws Exception {
    Map<String, Long> scanned = scanned();

    JsonObject check = server.operator().post("/v1/invariants/check", null).expect(200);
    Await.until(
        "everything is checked",
        () ->
            server
                    .operator()
                    .get("/v1/invariants")
                    .expect(200)
                    .getJsonObject("full")
                    .getString("finishedAt")
                != null);
    Await.until(
        "everything is reconciled",
        () ->
            server
                    .operator()
                    .get("/v1/reconciliation?latest=true")
                    .expect(200)
                    .getJsonObject("sweep")
                    .getLong("lastHolds")
                >= ALL);

    assertThat(check.getBoolean("ok")).isTrue();
    JsonObject report = server.operator().get("/v1/invariants").expect(200);
    assertThat(report.getBoolean("ok")).isTrue();
    assertThat(report.getJsonObject("full").getLong("slices")).isGreaterThan(ALL / 5_000);
    JsonObject money = server.operator().get("/v1/reconciliation?latest=true").expect(200);
    assertThat(money.getBoolean("ok")).isTrue();
    assertThat(money.getJsonObject("sweep").getLong("lastPurchases")).isGreaterThanOrEqualTo(SOLD);
    assertThat(scanned()).as("rows of large tables read by scans").isEqualTo(scanned);
  }

  @Test
  void oneAmongManyIsFoundByTheSweepAndStopsTheSale() throws Exception {
    server
        .database()
        .execute(
            "UPDATE lockstep.hold SET quantities = '{3}' WHERE scope = %s AND hold = md5('77')::uuid"
                .formatted(campaign));

    Await.until(
        "it is found",
        () ->
            server
                .operator()
                .get("/v1/reconciliation?latest=true")
                .expect(200)
                .getJsonArray("goodsWithoutMoney")
                .encode()
                .contains("moreThanPaid"));
    Await.until(
        "the sale stops",
        () -> server.anyone().get("/v1/campaigns/" + campaign).expect(200).getBoolean("paused"));
    server
        .database()
        .execute(
            "UPDATE lockstep.hold SET quantities = '{1}' WHERE scope = %s AND hold = md5('77')::uuid"
                .formatted(campaign));
  }

  /** By everybody, which counts after a moment: whoever scans is seen at the latest by the end. */
  private static Map<String, Long> scanned() {
    server.database().execute("SELECT pg_stat_force_next_flush()");
    Map<String, Long> scanned = new TreeMap<>();
    server
        .database()
        .query(
            "SELECT relname, seq_tup_read FROM pg_stat_user_tables WHERE relname = ANY (?::text[])",
            row -> scanned.put(row.getString(1), row.getLong(2)),
            "{" + String.join(",", LARGE) + "}");
    return scanned;
  }
}
