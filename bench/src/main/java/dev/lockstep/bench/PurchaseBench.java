package dev.lockstep.bench;

import dev.lockstep.bench.HttpLoad.Post;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Whole purchases over HTTP (hold, payment at the built-in gateway, confirmation), of positions in
 * triangles of the largest size, the last of which draws. The server and the load are two
 * processes.
 */
final class PurchaseBench {
  private static final String AT_ONCE = "purchase, gateway answers at once";
  private static final String AFTER_50_MS = "purchase, gateway answers after 50 ms";
  private static final int CONNECTIONS = 500;
  private static final int BASE = 50;
  private static final int POSITIONS = BASE * (BASE + 1) / 2;

  // The triangle-lottery document, §2: what it says of its own design, on four cores.
  private static final double DOCUMENT_PER_SECOND = 450;
  private static final double DOCUMENT_P95_MS = 420;

  /** More than any server sells here; stock must not end before the time does. */
  private static final int MAX_PER_SECOND = 4_000;

  private PurchaseBench() {}

  static void run(BenchDatabase database, int seconds, Report report) throws Exception {
    for (Map.Entry<String, Integer> gateway :
        List.of(Map.entry(AT_ONCE, 0), Map.entry(AFTER_50_MS, 50))) {
      Measured measured = measure(database, seconds, gateway.getKey(), gateway.getValue());
      report.add(measured);
      report.atLeast(
          measured.name() + ": purchases per second / 450 of the document",
          measured.perSecond(),
          DOCUMENT_PER_SECOND,
          5);
      report.atMost(
          measured.name() + ": p95 in ms / 420 ms of the document",
          measured.p95Ms(),
          DOCUMENT_P95_MS,
          0.5);
    }
  }

  private static Measured measure(BenchDatabase database, int seconds, String name, int latencyMs)
      throws Exception {
    Progress.say("%s: starting the server", name);
    try (BenchedServer server =
        BenchedServer.start(
            database,
            Map.of("LOCKSTEP_GATEWAY_FAULTS", "{\"latencyMs\":%d}".formatted(latencyMs)))) {
      int campaigns = 1 + (HttpLoad.MAX_WARM_UP_SECONDS + seconds + 1) * MAX_PER_SECOND / POSITIONS;
      List<String> ids = new ArrayList<>(campaigns);
      for (int i = 1; i <= campaigns; i++) {
        Progress.say("%s: publishing campaign %d of %d", name, i, campaigns);
        ids.add(publish(server, "%s %d".formatted(name, i)));
      }
      try (HttpLoad load = new HttpLoad(server.address(), server.serviceKey(), CONNECTIONS)) {
        long chargedBefore = charged(database);
        Measured measured = load.run(name, CONNECTIONS, seconds, n -> purchase(ids, n));
        requireBalance(server, ids, measured, charged(database) - chargedBefore);
        return measured;
      }
    }
  }

  private static String publish(BenchedServer server, String name)
      throws IOException, InterruptedException {
    JsonObject campaign =
        new JsonObject()
            .put("kind", "triangle")
            .put("name", name)
            .put("currency", "JPY")
            .put("baseLength", BASE)
            .put("price", 500)
            .put("purchaseLimit", 3)
            .put("holdSeconds", 900)
            .put(
                "prizes",
                new JsonArray().add(new JsonObject().put("name", "prize").put("quantity", 3)));
    String id = server.post("/v1/campaigns", campaign).getString("id");
    server.post("/v1/campaigns/" + id + "/publish", new JsonObject());
    return id;
  }

  /** The n-th purchase of a run takes one position of the layer that the n-th position is in. */
  private static Post purchase(List<String> campaigns, long number) {
    String campaign = campaigns.get((int) (number / POSITIONS));
    int position = (int) (number % POSITIONS);
    int layer = 1;
    while (position >= layer) {
      position -= layer;
      layer++;
    }
    String key = "%s-%d".formatted(campaign, number);
    return new Post(
        "/v1/campaigns/" + campaign + "/purchases",
        key,
        new JsonObject()
            .put("buyer", "buyer-" + key)
            .put("layer", layer)
            .put("paymentMethod", "pm_card_visa")
            .encode());
  }

  /** Payments that succeeded, in the gateway's own books. */
  private static long charged(BenchDatabase database) throws SQLException {
    return database.number("SELECT count(*) FROM gateway.intent WHERE status = 3");
  }

  /** Sold, charged and acknowledged are one number, and every invariant holds. */
  private static void requireBalance(
      BenchedServer server, List<String> campaigns, Measured measured, long charged)
      throws IOException, InterruptedException {
    long sold = 0;
    for (String id : campaigns) {
      JsonObject campaign = server.get("/v1/campaigns/" + id);
      if (campaign.getInteger("sold") > campaign.getInteger("total")) {
        throw new Report.BooksDoNotBalance("Campaign " + id + " is oversold: " + campaign);
      }
      sold += campaign.getInteger("sold");
    }
    Report.requireBalance(measured.name() + " (sold)", measured.acknowledged(), sold);
    Report.requireBalance(measured.name() + " (charged)", measured.acknowledged(), charged);
    JsonObject check = server.post("/v1/invariants/check", new JsonObject());
    if (!check.getBoolean("ok")) {
      throw new Report.BooksDoNotBalance("An invariant is broken: " + check);
    }
  }
}
