package dev.lockstep.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a server's reconciliation has found, as its report and its metrics show it. */
final class Findings {
  private final RunningServer server;

  Findings(RunningServer server) {
    this.server = server;
  }

  /** Without asking for it, but for what the metrics say. */
  void assertFound(String kind, String list, String campaign, double before) throws Exception {
    Await.until(kind + " is counted", () -> counted(kind) > before);
    Await.until("it is shown", () -> metric("lockstep_reconciliation_findings", kind) > 0);
    // What was counted may be of another test, whose provider look has just ended.
    Await.until(
        kind + " of campaign " + campaign + " is listed",
        () ->
            of(latest(), list, campaign).stream()
                .anyMatch(entry -> entry.getString("kind").equals(kind)));
    JsonObject report = latest();
    assertThat(report.getBoolean("ok")).isFalse();
    assertThat(report.getJsonObject("kinds").getLong(kind)).isPositive();
  }

  JsonObject latest() throws Exception {
    return server.operator().get("/v1/reconciliation?latest=true").expect(200);
  }

  static List<JsonObject> of(JsonObject report, String list, String campaign) {
    return report.getJsonArray(list).stream()
        .map(JsonObject.class::cast)
        .filter(entry -> entry.getString("campaign").equals(campaign))
        .toList();
  }

  double counted(String kind) throws Exception {
    return metric("lockstep_reconciliation_found_total", kind);
  }

  private double metric(String name, String kind) throws Exception {
    Matcher line =
        Pattern.compile("(?m)^" + name + "\\{kind=\"" + kind + "\"} (\\S+)$")
            .matcher(server.anyone().get("/metrics").response().body());
    assertThat(line.find()).as("the metric of " + kind).isTrue();
    return Double.parseDouble(line.group(1));
  }
}
