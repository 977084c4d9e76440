package dev.lockstep.server;

import static dev.lockstep.server.Client.cart;
import static dev.lockstep.server.Client.sku;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.server.Prometheus.Checked;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * The files of {@code ops/}, loaded into a real Prometheus that scrapes a real server. Grafana is
 * not there; {@link DashboardTest} looks at the shape of its file.
 */
@Timeout(300)
class PrometheusTest {
  @RegisterExtension static final RunningServer server = new RunningServer();

  private static final Path OPS = Repository.root().resolve("ops");
  private static final Path ALERTS = OPS.resolve("prometheus-alerts.yaml");

  @Test
  void promtoolAcceptsTheRulesAndTheConfiguration(@TempDir Path folder) throws Exception {
    accepted(Prometheus.promtool(folder, "check", "rules", ALERTS.toString()));
    // The token's file is not on this machine, so only the syntax is looked at.
    accepted(
        Prometheus.promtool(
            folder, "check", "config", "--syntax-only", OPS.resolve("prometheus.yaml").toString()));
  }

  @Test
  void alertsRingAboveTheirBandsAndAreSilentBelow(@TempDir Path folder) throws Exception {
    Path tests = OPS.resolve("prometheus-alerts-test.yaml");
    accepted(Prometheus.promtool(folder, "test", "rules", tests.toString()));
  }

  @Test
  void theTestOfTheBandsSeesAnotherBand(@TempDir Path folder) throws Exception {
    Files.copy(OPS.resolve("prometheus-alerts-test.yaml"), folder.resolve("test.yaml"));
    String rules = Files.readString(ALERTS);
    String other =
        rules.replace("0.05 and sum(increase(lockstep_v", "0.5 and sum(increase(lockstep_v");
    assertThat(other).isNotEqualTo(rules);
    Files.writeString(folder.resolve("prometheus-alerts.yaml"), other);

    Checked checked =
        Prometheus.promtool(folder, "test", "rules", folder.resolve("test.yaml").toString());

    assertThat(checked.status()).isNotZero();
    assertThat(checked.said()).contains("LockstepEditConflictsMany");
  }

  @Test
  void everyRuleAndEveryPanelIsEvaluatedOnARunningServer(@TempDir Path folder) throws Exception {
    String id = server.drop(2, null);
    server
        .service()
        .post(
            "/v1/campaigns/" + id + "/purchases",
            "p",
            cart("b", sku("A", 1)).put("paymentMethod", "pm_card_visa"))
        .expect(201);
    try (Prometheus prometheus = Prometheus.start(folder, configuration(folder))) {
      Await.until(
          "a sale has been scraped",
          () -> !result(prometheus.query("lockstep_positions_sold_total > 0")).isEmpty());
      Instant scraped = Instant.now();
      Await.until(
          "every rule has been evaluated since",
          () -> rules(prometheus).stream().allMatch(rule -> evaluated(rule).isAfter(scraped)));

      assertThat(rules(prometheus))
          .hasSize(Files.readString(ALERTS).split("- alert: ", -1).length - 1)
          .allSatisfy(
              rule -> {
                assertThat(rule.getString("health")).as(rule.encode()).isEqualTo("ok");
                assertThat(rule.getString("lastError", "")).isEmpty();
              });
      for (String expression : DashboardTest.expressions()) {
        JsonObject answer = prometheus.query(expression.replace("$__rate_interval", "1m"));
        assertThat(answer.getString("status"))
            .as("%s: %s", expression, answer)
            .isEqualTo("success");
      }
      // Nothing is wrong with this server, and nothing critical says so.
      assertThat(result(prometheus.query("ALERTS{alertstate=\"firing\",severity=\"critical\"}")))
          .isEmpty();
    }
  }

  /** As it comes, but for where things are, how often it looks, and where the token is. */
  private static String configuration(Path folder) throws Exception {
    Path token = Files.writeString(folder.resolve("token"), RunningServer.OPERATOR_KEY);
    return Files.readString(OPS.resolve("prometheus.yaml"))
        .replace("localhost:8080", URI.create(server.url()).getAuthority())
        .replace("/etc/prometheus/lockstep.token", token.toString())
        .replace("- prometheus-alerts.yaml", "- " + ALERTS)
        .replace("interval: 15s", "interval: 1s");
  }

  private static List<JsonObject> rules(Prometheus prometheus) throws Exception {
    return objects(prometheus.api("rules").getJsonObject("data").getJsonArray("groups"))
        .flatMap(group -> objects(group.getJsonArray("rules")))
        .toList();
  }

  private static Instant evaluated(JsonObject rule) {
    return OffsetDateTime.parse(rule.getString("lastEvaluation")).toInstant();
  }

  private static JsonArray result(JsonObject answer) {
    return answer.getJsonObject("data").getJsonArray("result");
  }

  private static Stream<JsonObject> objects(JsonArray array) {
    return array.stream().map(JsonObject.class::cast);
  }

  private static void accepted(Checked checked) {
    assertThat(checked.status()).as(checked.said()).isZero();
  }
}
