package dev.lockstep.bench;

import dev.lockstep.bench.HttpLoad.Post;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Whole purchases over HTTP (hold, payment at the built-in gateway, confirmation), of positions in
 * triangles of the largest size, whose last position starts the draw. The server and the load are
 * two processes.
 */
final class PurchaseBench implements Benchmark {
  private static final List<Gateway> GATEWAYS =
      List.of(
          new Gateway("gateway answers at once", 0),
          new Gateway("gateway answers after 50 ms", 50));
  private static final int CONNECTIONS = 500;
  private static final long CHECK_POLL_MS = 500;
  private static final int BASE = 50;
  private static final int POSITIONS = BASE * (BASE + 1) / 2;

  // The triangle-lottery document, section 2: its claims for its own design, on four cores.
  private static final int DOCUMENT_PER_SECOND = 450;
  private static final double DOCUMENT_P95_MS = 420;

  /** The target: this many times the document's rate, at half its p95. */
  private static final int TIMES = 5;

  private static final int PACE = TIMES * DOCUMENT_PER_SECOND;

  /** The server's upkeep and VACUUM run once a minute, and are part of the measurement. */
  private static final int MIN_PACED_SECONDS = 60;

  /** More than any server sells here; stock must not end before the time does. */
  private static final int MAX_PER_SECOND = 4_000;

  private static final long MAX_REST_SECONDS = 60;
  private static final long REST_POLL_MS = 200;

  private final BenchRun run;
  private final BenchDatabase database;

  PurchaseBench(BenchRun run) {
    this.run = run;
    this.database = run.database();
  }

  private record Gateway(String name, int latencyMs) {
    String most() {
      return "as many as it sells, " + name;
    }

    String pacedAt(int perSecond) {
      return "%,d a second, %s".formatted(perSecond, name);
    }
  }

  @Override
  public void measure() throws Exception {
    for (Gateway gateway : GATEWAYS) {
      measure(gateway);
    }
  }

  @Override
  public void aims() {
    Report report = run.report();
    for (Gateway gateway : GATEWAYS) {
      report.atLeast(
          "purchases per second / 450 of the document, " + gateway.name(),
          report.find(gateway.most(), CONNECTIONS).perSecond(),
          DOCUMENT_PER_SECOND,
          TIMES);
      for (int perSecond : List.of(DOCUMENT_PER_SECOND, PACE)) {
        String name = gateway.pacedAt(perSecond);
        report.atMost(
            "p95 / 420 ms of the document, " + name,
            report.find(name, CONNECTIONS).p95Ms(),
            DOCUMENT_P95_MS,
            0.5);
      }
    }
  }

  /**
   * Measures the highest rate, which says little about latency: with all connections always
   * waiting, latency is their number divided by the rate. So it also measures at the document's
   * rate and at the target rate, as buyers who come and go would: at 180 ms each, 450 per second
   * are 81 at once, of the document's 500 users.
   */
  private void measure(Gateway gateway) throws Exception {
    int seconds = run.seconds();
    int pacedSeconds = Math.max(seconds, MIN_PACED_SECONDS);
    Progress.say("%s: starting the server", gateway.name());
    try (BenchedServer server =
        BenchedServer.start(
            database,
            Map.of(
                "LOCKSTEP_GATEWAY_FAULTS", "{\"latencyMs\":%d}".formatted(gateway.latencyMs())))) {
      List<String> ids =
          publish(
              server,
              gateway,
              1
                  + (HttpLoad.MAX_WARM_UP_SECONDS + 2 * seconds + pacedSeconds + 25)
                      * MAX_PER_SECOND
                      / POSITIONS);
      try (HttpLoad load = new HttpLoad(server.address(), server.serviceKey(), CONNECTIONS)) {
        long chargedBefore = charged();
        Measured most = load.run(gateway.most(), CONNECTIONS, seconds, n -> purchase(ids, n));
        awaitRest();
        Measured asDocument = paced(load, gateway, DOCUMENT_PER_SECOND, seconds, ids);
        Measured aimed = paced(load, gateway, PACE, pacedSeconds, ids);
        List<Measured> all = List.of(most, asDocument, aimed);
        long acknowledged = all.stream().mapToLong(Measured::acknowledged).sum();
        requireBalance(server, ids, gateway.name(), acknowledged, charged() - chargedBefore);
        all.forEach(run.report()::add);
      }
    }
  }

  private static Measured paced(
      HttpLoad load, Gateway gateway, int perSecond, int seconds, List<String> ids)
      throws InterruptedException {
    return load.runPaced(
        gateway.pacedAt(perSecond), CONNECTIONS, perSecond, seconds, n -> purchase(ids, n));
  }

  /** Publishes campaigns; returns their ids. */
  private static List<String> publish(BenchedServer server, Gateway gateway, int campaigns)
      throws IOException, InterruptedException {
    List<String> ids = new ArrayList<>(campaigns);
    for (int i = 1; i <= campaigns; i++) {
      Progress.say("%s: publishing campaign %d of %d", gateway.name(), i, campaigns);
      ids.add(publish(server, "%s %d".formatted(gateway.name(), i)));
    }
    return ids;
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

  /**
   * Waits until the gateway has delivered all events, so that the next load finds an idle server.
   */
  private void awaitRest() throws Exception {
    Progress.say("waiting until the gateway's webhooks are delivered");
    long giveUpNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(MAX_REST_SECONDS);
    while (database.number("SELECT count(*) FROM gateway.webhook") > 0
        && System.nanoTime() < giveUpNanos) {
      TimeUnit.MILLISECONDS.sleep(REST_POLL_MS);
    }
    database.settle();
  }

  /** Payments that succeeded, in the gateway's own books. */
  private long charged() throws SQLException {
    return database.number("SELECT count(*) FROM gateway.intent WHERE status = 3");
  }

  /** Checks that sold, charged and acknowledged agree, and that every invariant holds. */
  private static void requireBalance(
      BenchedServer server, List<String> campaigns, String name, long acknowledged, long charged)
      throws IOException, InterruptedException {
    long sold = 0;
    for (String id : campaigns) {
      JsonObject campaign = server.get("/v1/campaigns/" + id);
      if (campaign.getInteger("sold") > campaign.getInteger("total")) {
        throw new Report.BooksDoNotBalance("Campaign " + id + " is oversold: " + campaign);
      }
      sold += campaign.getInteger("sold");
    }
    Report.requireBalance(name + " (sold)", acknowledged, sold);
    Report.requireBalance(name + " (charged)", acknowledged, charged);
    JsonObject check = server.post("/v1/invariants/check", new JsonObject());
    boolean complete = check.getBoolean("complete", true);
    while (!complete) {
      Thread.sleep(CHECK_POLL_MS);
      check = server.get("/v1/invariants");
      complete = check.getJsonObject("full").getString("finishedAt") != null;
    }
    if (!check.getBoolean("ok")) {
      throw new Report.BooksDoNotBalance("An invariant is broken: " + check);
    }
  }
}
