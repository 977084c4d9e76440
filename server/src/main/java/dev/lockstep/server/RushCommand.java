package dev.lockstep.server;

import dev.lockstep.server.rush.Rush;
import dev.lockstep.server.rush.RushFailed;
import dev.lockstep.server.rush.RushPlan;
import dev.lockstep.server.rush.RushReport;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.net.URI;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Many buyers at once. Exit codes: 0 the proof holds, 1 it fails or could not be had, 2 wrong use.
 */
@Command(
    name = "rush",
    description = "Send many buyers at once to a running server, and prove what came of it.")
final class RushCommand implements Callable<Integer> {
  private static final int BAR_WIDTH = 40;

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

  @Option(
      names = "--url",
      paramLabel = "URL",
      defaultValue = "http://localhost:8080",
      description = "Where the server is. ${DEFAULT-VALUE}")
  private String url = "";

  @Option(
      names = "--key",
      paramLabel = "KEY",
      description =
          "An operator's key. Others on this machine can read it; prefer LOCKSTEP_OPERATOR_KEY.")
  private @Nullable String key;

  @Option(names = "--json", description = "One JSON object instead of a table.")
  private boolean json;

  @SuppressWarnings("unused") // read by picocli
  @Option(names = "--help", usageHelp = true, description = "Print this text.")
  private boolean help;

  @SuppressWarnings("NullAway.Init") // picocli sets it before call()
  @Spec
  private CommandSpec spec;

  @Override
  public Integer call() throws InterruptedException {
    RushPlan plan = plan(System.getenv());
    PrintWriter err = spec.commandLine().getErr();
    boolean terminal = "yes".equals(System.getenv("LOCKSTEP_TERMINAL"));
    try {
      RushReport report = new Rush(plan, terminal ? bar(err) : done -> {}).run();
      if (terminal) {
        err.print("\r\033[K");
        err.flush();
      }
      PrintWriter out = spec.commandLine().getOut();
      out.print(json ? asJson(report).encodePrettily() + "\n" : asTable(report));
      out.flush();
      return report.ok() ? 0 : 1;
    } catch (RushFailed e) {
      err.println("lockstep: " + e.getMessage());
      err.flush();
      return 1;
    }
  }

  private RushPlan plan(Map<String, String> environment) {
    String secret = key != null ? key : environment.getOrDefault("LOCKSTEP_OPERATOR_KEY", "");
    if (!secret.matches("[\\x21-\\x7e]{1,512}")) {
      throw new WrongUse(
          "rush needs an operator's key: set LOCKSTEP_OPERATOR_KEY to the one that up printed");
    }
    if (campaign != null && !campaign.matches("[1-9]\\d{0,17}")) {
      throw new WrongUse("--campaign takes a campaign's id, a number");
    }
    try {
      return new RushPlan(address(url), secret, Optional.ofNullable(campaign), buyers, atOnce);
    } catch (IllegalArgumentException e) {
      throw new WrongUse(String.valueOf(e.getMessage()));
    }
  }

  private static URI address(String text) {
    URI address;
    try {
      address = URI.create(text);
    } catch (IllegalArgumentException e) {
      throw new WrongUse("--url is no URL: '" + text + "'");
    }
    String scheme = String.valueOf(address.getScheme()).toLowerCase(Locale.ROOT);
    if (!(scheme.equals("http") || scheme.equals("https")) || address.getHost() == null) {
      throw new WrongUse("--url must be like http://localhost:8080, not '" + text + "'");
    }
    return address;
  }

  /** Drawn by whichever thread is first to see a new step. */
  private IntConsumer bar(PrintWriter err) {
    int[] drawn = {-1};
    return done -> {
      int filled = (int) ((long) done * BAR_WIDTH / buyers);
      synchronized (drawn) {
        if (filled > drawn[0]) {
          drawn[0] = filled;
          err.printf(
              "\r[%s%s] %d of %d",
              "#".repeat(filled), ".".repeat(BAR_WIDTH - filled), done, buyers);
          err.flush();
        }
      }
    };
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
