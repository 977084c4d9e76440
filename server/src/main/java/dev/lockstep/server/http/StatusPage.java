package dev.lockstep.server.http;

import dev.lockstep.server.database.DatabaseStatus;
import dev.lockstep.server.page.PageFrame;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The page at {@code /status}: what runs here, and its health. Plain HTML, no script. */
final class StatusPage {
  private static final String PAGE =
      """
      <main id="main" class="narrow" tabindex="-1">
      <h1>Lockstep</h1>
      <p class="tagline">Sell, schedule, publish and transfer on PostgreSQL without racing.</p>
      <p class="state %2$s" role="status"><span class="dot" aria-hidden="true"></span>%1$s</p>
      <dl>
      %3$s</dl>
      <p class="row">
      <a href="/healthz">Alive?</a>
      <a href="/readyz">Ready?</a>
      <a href="/metrics">Metrics</a>
      </p>
      </main>""";

  private StatusPage() {}

  static String render(String version, Instant startedAt, Readiness readiness) {
    return render(version, startedAt, readiness, Map.of());
  }

  /** For callers other than operators: whether the server is ready, without details. */
  static String withoutDetails(Readiness readiness) {
    String main =
        PAGE.formatted(
            readiness.ready() ? "Ready." : "Not ready.",
            readiness.ready() ? "well" : "unwell",
            "<div><dt>Details</dt><dd>for operators, on the server's own machine</dd></div>\n");
    return PageFrame.of("Status · Lockstep", "/status", main);
  }

  /**
   * @param problems of each background part of this node
   */
  static String render(
      String version, Instant startedAt, Readiness readiness, Map<String, List<String>> problems) {
    StringBuilder rows = new StringBuilder();
    facts(version, startedAt, readiness, problems)
        .forEach(
            (name, value) ->
                rows.append("<div><dt>")
                    .append(escape(name))
                    .append("</dt><dd>")
                    .append(escape(value))
                    .append("</dd></div>\n"));
    String main =
        PAGE.formatted(
            escape(readiness.explanation()), readiness.ready() ? "well" : "unwell", rows);
    return PageFrame.of("Status · Lockstep", "/status", main);
  }

  private static Map<String, String> facts(
      String version, Instant startedAt, Readiness readiness, Map<String, List<String>> problems) {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("Version", version);
    facts.put("Up for", age(Duration.between(startedAt, Instant.now())));
    readiness
        .status()
        .ifPresent(status -> facts.put("Database", "PostgreSQL " + status.serverVersion()));
    readiness
        .address()
        .ifPresent(
            address ->
                facts.put(
                    "Where", (address.embedded() ? "embedded, " : "your own, ") + address.place()));
    readiness.status().ifPresent(status -> facts.put("Schema", schema(status)));
    problems.forEach(
        (part, found) -> {
          if (!found.isEmpty()) {
            facts.put(part, String.join("; ", found));
          } else if (readiness.ready()) {
            facts.put(part, "running");
          }
        });
    return facts;
  }

  private static String schema(DatabaseStatus status) {
    return "version %s, %d of %d migrations applied"
        .formatted(status.schemaVersion(), status.migrationsApplied(), status.migrationsKnown());
  }

  /** The two largest units: nobody needs the seconds of a third day. */
  static String age(Duration age) {
    if (age.toDays() > 0) {
      return age.toDays() + " d " + age.toHoursPart() + " h";
    }
    if (age.toHours() > 0) {
      return age.toHours() + " h " + age.toMinutesPart() + " min";
    }
    if (age.toMinutes() > 0) {
      return age.toMinutes() + " min " + age.toSecondsPart() + " s";
    }
    return age.truncatedTo(ChronoUnit.SECONDS).toSeconds() + " s";
  }

  static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;")
        .replace("'", "&#39;");
  }
}
