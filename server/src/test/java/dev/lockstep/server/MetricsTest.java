package dev.lockstep.server;

import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a real server gives after real traffic, against every file that relies on it. */
@Timeout(120)
class MetricsTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final Path OPS = Repository.root().resolve("ops");
  private static final Pattern SAMPLE = Pattern.compile("(?m)^([a-z_]+)(?:\\{([^}]*)})? (\\S+)$");
  private static final Pattern LABEL = Pattern.compile("(\\w+)(=~|!~|!=|=)\"([^\"]*)\"");
  private static final Pattern USED = Pattern.compile("(lockstep_[a-z_]+)(?:\\{([^}]*)})?");
  private static final Pattern GROUPING = Pattern.compile("by \\(([^)]*)\\)");
  private static final Pattern ALERT_EXPRESSION = Pattern.compile("(?m)^ +expr: (.+)$");

  /** Each name with the label sets it was seen with. */
  private static final Map<String, List<Map<String, String>>> served = new HashMap<>();

  @BeforeAll
  static void sellSomething() throws Exception {
    String id = server.drop(2, null);
    Client shop = server.service();
    shop.post("/v1/campaigns/" + id + "/holds", "m", cart("a", sku("A", 1))).expect(201);
    shop.post("/v1/campaigns/" + id + "/purchases", "n", order("pm_card_visa")).expect(201);
    shop.post(
            "/v1/campaigns/" + server.drop(1, null) + "/purchases",
            "p",
            order("pm_card_chargeDeclined"))
        .expectProblem(402, "payment-failed");
    server.operator().post("/v1/invariants/check", null).expect(200);
    server
        .operator()
        .put(
            "/v1/streams/measured",
            new JsonObject("{\"sinks\":[{\"name\":\"a\",\"type\":\"log\"}]}"))
        .expect(200);
    editOneVersionTwice();
    // An answer is counted when it has been sent, which a client may see a moment earlier.
    Await.until(
        "all four answers are counted",
        () ->
            value("lockstep_purchase_duration_seconds_count") == 2
                && labelsNow("lockstep_http_request_duration_seconds_count").size() >= 4
                && value("lockstep_versioned_edits_total") == 2
                && !labelsNow("lockstep_stream_deliveries_total").isEmpty());
    served.putAll(scrape());
  }

  private static void editOneVersionTwice() throws Exception {
    JsonObject schedule =
        new JsonObject(
            "{\"name\":\"a\",\"when\":{\"at\":\"2100-01-01T00:00:00Z\"},"
                + "\"deliver\":{\"webhook\":\"http://127.0.0.1:1/\"}}");
    Client operator = server.operator();
    String id = operator.post("/v1/schedules", schedule).expect(201).getString("id");
    for (int status : List.of(200, 412)) {
      operator
          .send("PATCH", "/v1/schedules/" + id, "{\"name\":\"b\"}", Map.of("If-Match", "\"1\""))
          .expect(status);
    }
  }

  @Test
  void whatWasDoneIsCounted() throws Exception {
    assertThat(labels("lockstep_http_request_duration_seconds_count"))
        .contains(Map.of("method", "POST", "route", "/v1/campaigns/:id/holds", "status", "2xx"));
    assertThat(labels("lockstep_database_transaction_duration_seconds_count"))
        .contains(Map.of("transaction", "holds", "outcome", "committed"));
    assertThat(value("lockstep_combiner_batch_requests_sum")).isPositive();
    assertThat(value("lockstep_lock_wait_time_seconds_count")).isPositive();
    assertThat(value("lockstep_invariant_check_timestamp_seconds")).isPositive();
    assertThat(value("lockstep_positions_sold_total")).isPositive();
    assertThat(value("lockstep_payment_failures_total")).isPositive();
    assertThat(value("lockstep_stripe_api_duration_seconds_count")).isGreaterThanOrEqualTo(2);
    assertThat(value("lockstep_purchase_duration_seconds_count")).isGreaterThanOrEqualTo(2);
  }

  /** What a buyer is told at first is one count, what becomes of the purchase another. */
  @Test
  void aPurchaseThatEndsLaterIsCountedWhenItEnds() throws Exception {
    Client shop = server.service();
    String path = "/v1/campaigns/" + server.drop(3, null) + "/purchases";
    String completed = "lockstep_purchases_ended_total{status=\"completed\"}";
    String failed = "lockstep_purchases_ended_total{status=\"failed\"}";
    String told = "lockstep_purchases_total{outcome=\"requires_action\"}";
    double completedBefore = series(completed);
    double failedBefore = series(failed);
    double toldBefore = series(told);

    for (boolean approved : List.of(true, false)) {
      JsonObject waiting =
          shop.post(path, "later " + approved, order("pm_card_authenticationRequired")).expect(202);
      server
          .gateway()
          .authenticate(waiting.getJsonObject("payment").getString("id"), approved)
          .toCompletableFuture()
          .get();
      if (!approved) {
        // Its goods wait for another card until it is given up.
        String purchase = "/v1/purchases/" + waiting.getString("id");
        Await.until(
            "it waits for a card",
            () ->
                shop.get(purchase).expect(200).getString("status").equals("requiresPaymentMethod"));
        shop.delete(purchase).expect(200);
      }
    }
    shop.post(path, "at once", order("pm_card_visa")).expect(201);

    Await.until("two are completed", () -> series(completed) == completedBefore + 2);
    Await.until("one has failed", () -> series(failed) == failedBefore + 1);
    Await.until("two were told to act", () -> series(told) == toldBefore + 2);
  }

  @Test
  void moreGivenOutThanThereIsCountsOnce() throws Exception {
    String id = server.drop(5, null);
    Client shop = server.service();
    shop.post("/v1/campaigns/" + id + "/holds", "o", cart("a", sku("A", 5))).expect(201);
    double before = value("lockstep_overselling_incidents_total");
    server.database().execute("UPDATE lockstep.hold SET quantities = '{6}' WHERE scope = " + id);
    server.operator().post("/v1/invariants/check", null).expect(200);
    server.operator().post("/v1/invariants/check", null).expect(200);
    assertThat(value("lockstep_overselling_incidents_total")).isEqualTo(before + 1);
    assertThat(value("lockstep_invariant_violations")).isPositive();
    server.database().execute("UPDATE lockstep.hold SET quantities = '{5}' WHERE scope = " + id);
    server.operator().post("/v1/invariants/check", null).expect(200);
    assertThat(value("lockstep_invariant_violations")).isZero();
  }

  @Test
  void aBuyerWhoHangsUpHasNotBeenAnswered() throws Exception {
    String id = server.drop(1, null);
    server.anyone().get("/v1/campaigns/" + id).expect(200);
    double answered = value("lockstep_purchases_total");
    try (Connection holder = server.database().connection();
        Statement statement = holder.createStatement()) {
      holder.setAutoCommit(false);
      // Whoever buys now waits for this lock.
      statement.execute("SELECT 1 FROM lockstep.pool WHERE scope = " + id + " FOR UPDATE");
      CompletableFuture<HttpResponse<String>> buying =
          HttpClient.newHttpClient()
              .sendAsync(
                  HttpRequest.newBuilder(
                          URI.create(server.url() + "/v1/campaigns/" + id + "/purchases"))
                      .header("Authorization", "Bearer " + RunningServer.OPERATOR_KEY)
                      .header("Content-Type", "application/json")
                      .header("Idempotency-Key", "hung up")
                      .POST(HttpRequest.BodyPublishers.ofString(order("pm_card_visa").encode()))
                      .build(),
                  HttpResponse.BodyHandlers.ofString());
      Await.until("a purchase is under way", () -> value("lockstep_concurrent_purchases") == 1);
      buying.cancel(true);
      Await.until("nobody waits any more", () -> value("lockstep_concurrent_purchases") == 0);
      holder.rollback();
    }
    assertThat(value("lockstep_purchases_total")).isEqualTo(answered);
  }

  @TestFactory
  List<DynamicTest> everyExpressionOfTheDashboardUsesWhatIsServed() throws Exception {
    List<String> expressions = DashboardTest.expressions();
    assertThat(expressions).hasSizeGreaterThan(50);
    return expressions.stream().map(MetricsTest::test).toList();
  }

  @TestFactory
  List<DynamicTest> everyExpressionOfTheAlertsUsesWhatIsServed() throws Exception {
    Matcher expression =
        ALERT_EXPRESSION.matcher(Files.readString(OPS.resolve("prometheus-alerts.yaml")));
    List<DynamicTest> tests = new ArrayList<>();
    while (expression.find()) {
      tests.add(test(expression.group(1)));
    }
    assertThat(tests).hasSizeGreaterThan(8);
    return tests;
  }

  @Test
  void everyNameServedIsExplained() throws Exception {
    String explained = Files.readString(Repository.root().resolve("docs/operations.md"));
    Set<String> missing = new TreeSet<>();
    for (String name : served.keySet()) {
      String family = name.replaceAll("_(bucket|count|sum|max)$", "");
      if (!explained.contains("`" + family + "`") && !explained.contains("`" + name + "`")) {
        missing.add(name);
      }
    }
    assertThat(missing).isEmpty();
  }

  @Test
  void theTestSeesANameOrLabelThatIsNotServed() {
    assertThat(faults("sum(rate(lockstep_frobnications_total[5m]))")).isNotEmpty();
    assertThat(faults("lockstep_http_requests_total{colour=\"5xx\"}")).isNotEmpty();
    assertThat(faults("lockstep_http_requests_total{status=\"6xx\"}")).isNotEmpty();
    assertThat(faults("sum by (colour) (lockstep_http_requests_total)")).isNotEmpty();
    assertThat(faults("sum by (status) (lockstep_http_requests_total)")).isEmpty();
  }

  private static JsonObject order(String paymentMethod) {
    return cart("b", sku("A", 1)).put("paymentMethod", paymentMethod);
  }

  private static DynamicTest test(String expression) {
    return DynamicTest.dynamicTest(expression, () -> assertThat(faults(expression)).isEmpty());
  }

  /** What an expression uses that is not there: names, labels, or values that labels never have. */
  private static List<String> faults(String expression) {
    List<String> faults = new ArrayList<>();
    Matcher used = USED.matcher(expression);
    while (used.find()) {
      String name = used.group(1);
      if (labels(name).isEmpty()) {
        faults.add(name + " is not served");
      }
      Matcher label = LABEL.matcher(used.group(2) == null ? "" : used.group(2));
      while (label.find()) {
        // Of a pattern each alternative by itself: one that matches nothing is a mistake, too.
        for (String value : label.group(3).split("\\|", -1)) {
          if (!isServed(name, label.group(1), value)) {
            faults.add(name + " has no " + label.group(1) + " " + value);
          }
        }
      }
      Matcher grouping = GROUPING.matcher(expression);
      while (grouping.find()) {
        for (String key : grouping.group(1).split(", *", -1)) {
          if (labels(name).stream().noneMatch(series -> series.containsKey(key))) {
            faults.add(name + " has no label " + key);
          }
        }
      }
    }
    if (!USED.matcher(expression).find()) {
      faults.add("no name of ours in " + expression);
    }
    return faults;
  }

  private static boolean isServed(String name, String label, String value) {
    return labels(name).stream().anyMatch(series -> value.equals(series.get(label)));
  }

  private static List<Map<String, String>> labelsNow(String name) throws Exception {
    return scrape().getOrDefault(name, List.of());
  }

  private static List<Map<String, String>> labels(String name) {
    return served.getOrDefault(name, List.of());
  }

  private static double value(String name) throws Exception {
    Matcher sample = SAMPLE.matcher(text());
    double sum = 0;
    while (sample.find()) {
      sum += sample.group(1).equals(name) ? Double.parseDouble(sample.group(3)) : 0;
    }
    return sum;
  }

  /** Of one series, written as Prometheus has it. */
  private static double series(String nameAndLabels) throws Exception {
    return text()
        .lines()
        .filter(line -> line.startsWith(nameAndLabels + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(nameAndLabels.length() + 1)))
        .findFirst()
        .orElseThrow();
  }

  private static Map<String, List<Map<String, String>>> scrape() throws Exception {
    Map<String, List<Map<String, String>>> found = new HashMap<>();
    Matcher sample = SAMPLE.matcher(text());
    while (sample.find()) {
      Map<String, String> labels = new HashMap<>();
      Matcher label = LABEL.matcher(sample.group(2) == null ? "" : sample.group(2));
      while (label.find()) {
        labels.put(label.group(1), label.group(3));
      }
      found.computeIfAbsent(sample.group(1), name -> new ArrayList<>()).add(labels);
    }
    return found;
  }

  private static String text() throws Exception {
    return server.anyone().get("/metrics").response().body();
  }
}
