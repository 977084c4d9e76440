package dev.lockstep.cli;

import dev.lockstep.cli.rush.Rush;
import dev.lockstep.cli.rush.RushFailed;
import dev.lockstep.cli.rush.RushPlan;
import dev.lockstep.cli.rush.RushReport;
import dev.lockstep.server.lifecycle.WrongUse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Simulates many buyers. Exit codes: 0 the proof holds, 1 it fails or could not be made, 2 wrong
 * use.
 */
@Command(
    name = "rush",
    description = "Send many buyers at once to a running server, and prove what came of it.")
final class RushCommand implements Callable<Integer> {
  @Option(
      names = "--buyers",
      paramLabel = "N",
      defaultValue = "500",
      description = "How many buyers; each buys one thing. ${DEFAULT-VALUE}")
  private int buyers;

  @Option(
      names = "--at-once",
      paramLabel = "N",
      defaultValue = "100",
      description = "How many of them at the same time. ${DEFAULT-VALUE}")
  private int atOnce;

  @Option(
      names = "--campaign",
      paramLabel = "ID",
      description = "Where to buy; without it the first campaign with something for sale.")
  private @Nullable String campaign;

  @Mixin private final RunningServerOptions server = new RunningServerOptions();

  @Option(
      names = "--key",
      paramLabel = "KEY",
      description =
          "An operator's key. Others on this machine can read it; prefer LOCKSTEP_OPERATOR_KEY.")
  private @Nullable String key;

  @Option(names = "--json", description = "One JSON object instead of a table.")
  private boolean json;

  @Mixin private final Console console = new Console();

  @Override
  public Integer call() throws InterruptedException {
    RushPlan plan = plan();
    ProgressBar bar = console.bar(buyers);
    try {
      RushReport report = new Rush(plan, bar::advance).run();
      bar.erase();
      console.print(json ? asJson(report).encodePrettily() + "\n" : asTable(report));
      return report.ok() ? 0 : 1;
    } catch (RushFailed e) {
      return console.fail(String.valueOf(e.getMessage()));
    }
  }

  private RushPlan plan() {
    String secret = RunningServerOptions.operatorKey("rush", key);
    if (campaign != null && !campaign.matches("[1-9]\\d{0,17}")) {
      throw new WrongUse("--campaign takes a campaign's id, a number");
    }
    try {
      return new RushPlan(server.address(), secret, Optional.ofNullable(campaign), buyers, atOnce);
    } catch (IllegalArgumentException e) {
      throw new WrongUse(String.valueOf(e.getMessage()));
    }
  }

  private static String asTable(RushReport report) {
    StringBuilder text = new StringBuilder();
    double seconds = report.took().toMillis() / 1_000.0;
    text.append(
        String.format(
            Locale.ROOT,
            "Campaign %s, %s: %d buyers in %.2f s%n%n",
            report.campaign(),
            report.name(),
            report.asked(),
            seconds));
    row(text, "asked", String.valueOf(report.asked()), "");
    row(text, "sold", String.valueOf(report.sold()), "");
    row(text, "refused", report.refusedInAll() + " " + reasons(report), "");
    report
        .checks()
        .forEach(check -> row(text, check.what(), check.found(), check.ok() ? "ok" : "FAILED"));
    RushReport.Percentiles latency = report.latency();
    row(
        text,
        "p50 / p95 / p99",
        String.format(
            Locale.ROOT,
            "%.1f / %.1f / %.1f ms",
            latency.p50Ms(),
            latency.p95Ms(),
            latency.p99Ms()),
        "");
    return text.append(report.ok() ? "\nThe proof holds.\n" : "\nThe proof fails.\n").toString();
  }

  private static String reasons(RushReport report) {
    return report.refused().isEmpty() ? "" : report.refused().toString();
  }

  private static void row(StringBuilder text, String what, String found, String verdict) {
    text.append("  %-18s %-32s %s".formatted(what, found, verdict).stripTrailing()).append('\n');
  }

  private static JsonObject asJson(RushReport report) {
    JsonObject refused = new JsonObject();
    report.refused().forEach(refused::put);
    JsonArray checks = new JsonArray();
    report
        .checks()
        .forEach(
            check ->
                checks.add(
                    new JsonObject()
                        .put("what", check.what())
                        .put("found", check.found())
                        .put("ok", check.ok())));
    return new JsonObject()
        .put("ok", report.ok())
        .put("campaign", report.campaign())
        .put("asked", report.asked())
        .put("sold", report.sold())
        .put("refused", refused)
        .put("unanswered", report.unanswered())
        .put("seconds", report.took().toMillis() / 1_000.0)
        .put("p50Ms", report.latency().p50Ms())
        .put("p95Ms", report.latency().p95Ms())
        .put("p99Ms", report.latency().p99Ms())
        .put("checks", checks);
  }
}
