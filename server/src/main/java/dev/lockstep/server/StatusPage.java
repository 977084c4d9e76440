package dev.lockstep.server;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;

/** The page at {@code /}: what runs here and whether it is well. Plain HTML, no script. */
final class StatusPage {
  private static final String PAGE =
      """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>Lockstep: %1$s</title>
      <link rel="icon" href="/icon.svg" type="image/svg+xml">
      <link rel="stylesheet" href="/style.css">
      </head>
      <body>
      <main>
      <h1>Lockstep</h1>
      <p class="tagline">Sell, schedule, publish and transfer on PostgreSQL without racing.</p>
      <p class="state %2$s" role="status"><span class="dot" aria-hidden="true"></span>%1$s</p>
      <dl>
      %3$s</dl>
      <nav aria-label="More">
      <a href="/docs">The API</a>
      <a href="/healthz">Alive?</a>
      <a href="/readyz">Ready?</a>
      </nav>
      </main>
      </body>
      </html>
      """;

  private StatusPage() {}

  static String render(String version, Instant startedAt, Readiness readiness) {
    StringBuilder rows = new StringBuilder();
    facts(version, startedAt, readiness)
        .forEach(
            (name, value) ->
                rows.append("<div><dt>")
                    .append(escape(name))
                    .append("</dt><dd>")
                    .append(escape(value))
                    .append("</dd></div>\n"));
    return PAGE.formatted(
        escape(readiness.explanation()), readiness.ready() ? "well" : "unwell", rows);
  }

  private static Map<String, String> facts(String version, Instant startedAt, Readiness readiness) {
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
