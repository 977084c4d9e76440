package dev.lockstep.bench;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;

/** The results of a run: a table for people, one JSON object for programs. */
final class Report {
  private final String bench;
  private final String machine;
  private final String machineJson;
  private final List<Measured> results = new ArrayList<>();
  private final List<Aim> aims = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();

  Report(String bench, BenchDatabase database) throws Exception {
    this.bench = bench;
    String postgres = database.text("SHOW server_version");
    String fsync = database.text("SHOW fsync");
    String java = System.getProperty("java.version");
    int cores = Runtime.getRuntime().availableProcessors();
    machine = "%d cores, Java %s, PostgreSQL %s, fsync %s".formatted(cores, java, postgres, fsync);
    machineJson =
        "{\"cores\":%d,\"java\":%s,\"postgres\":%s,\"fsync\":%s}"
            .formatted(cores, quoted(java), quoted(postgres), fsync.equals("on"));
  }

  /** A contender acknowledged something other than what its database shows. */
  static final class BooksDoNotBalance extends RuntimeException {
    private static final long serialVersionUID = 1L;

    BooksDoNotBalance(String message) {
      super(message);
    }
  }

  static void requireBalance(String contender, long acknowledged, long stored) {
    if (acknowledged != stored) {
      throw new BooksDoNotBalance(
          "%s acknowledged %,d, its database shows %,d".formatted(contender, acknowledged, stored));
    }
  }

  void add(Measured result) {
    results.add(result);
  }

  /** Adds a line below the table. */
  void note(String format, Object... arguments) {
    notes.add(String.format(Locale.ROOT, format, arguments));
  }

  /** The result of a contender at this number of callers. */
  Measured find(String name, int callers) {
    return results.stream()
        .filter(r -> r.name().equals(name) && r.callers() == callers)
        .findFirst()
        .orElseThrow();
  }

  /** A ratio that should reach the target. */
  void atLeast(String aim, Measured ours, Measured theirs, double target) {
    atLeast(aim, ours.perSecond(), theirs.perSecond(), target);
  }

  void atLeast(String aim, double ours, double theirs, double target) {
    aims.add(new Aim(aim, ratio(ours, theirs), target, true));
  }

  /** A ratio that should not exceed the target. */
  void atMost(String aim, double ours, double theirs, double target) {
    aims.add(new Aim(aim, ratio(ours, theirs), target, false));
  }

  private static double ratio(double ours, double theirs) {
    return theirs > 0 ? ours / theirs : 0;
  }

  void print(PrintStream out, boolean json) {
    if (json) {
      out.println(json());
    } else {
      table(out);
    }
  }

  private void table(PrintStream out) {
    out.printf(Locale.ROOT, "%s: %s%n%n", bench, machine);
    int width = results.stream().mapToInt(r -> r.name().length()).max().orElse(10);
    String head = "%-" + width + "s  %7s  %10s  %9s  %9s  %9s%n";
    out.printf(
        Locale.ROOT, head, "contender", "callers", "per second", "p50 ms", "p95 ms", "p99 ms");
    List<Measured> byCallers = new ArrayList<>(results);
    byCallers.sort(Comparator.comparingInt(Measured::callers));
    for (Measured r : byCallers) {
      if (r.ran()) {
        out.printf(
            Locale.ROOT,
            "%-" + width + "s  %,7d  %,10.0f  %9s  %9s  %9s%n",
            r.name(),
            r.callers(),
            r.perSecond(),
            ms(r.p50Ms()),
            ms(r.p95Ms()),
            ms(r.p99Ms()));
      } else {
        out.printf(
            Locale.ROOT,
            "%-" + width + "s  %,7d  skipped: %s%n",
            r.name(),
            r.callers(),
            r.skipped());
      }
    }
    out.println();
    if (!notes.isEmpty()) {
      notes.forEach(out::println);
      out.println();
    }
    for (Aim aim : aims) {
      out.printf(
          Locale.ROOT,
          "%-7s %8.2f (%s %.2f)  %s%n",
          aim.met() ? "met" : "NOT MET",
          aim.ratio(),
          aim.atLeast() ? "at least" : "at most",
          aim.target(),
          aim.aim());
    }
  }

  /** Empty if single calls were not timed. */
  private static String ms(double value) {
    return value == 0 ? "" : String.format(Locale.ROOT, "%,.2f", value);
  }

  private String json() {
    StringJoiner resultList = new StringJoiner(",", "[", "]");
    for (Measured r : results) {
      resultList.add(
          r.ran()
              ? String.format(
                  Locale.ROOT,
                  "{\"name\":%s,\"callers\":%d,\"perSecond\":%.1f,\"p50Ms\":%.3f,\"p95Ms\":%.3f,\"p99Ms\":%.3f}",
                  quoted(r.name()),
                  r.callers(),
                  r.perSecond(),
                  r.p50Ms(),
                  r.p95Ms(),
                  r.p99Ms())
              : "{\"name\":%s,\"callers\":%d,\"skipped\":%s}"
                  .formatted(quoted(r.name()), r.callers(), quoted(r.skipped())));
    }
    StringJoiner aimList = new StringJoiner(",", "[", "]");
    for (Aim aim : aims) {
      aimList.add(
          String.format(
              Locale.ROOT,
              "{\"aim\":%s,\"ratio\":%.3f,\"target\":%.3f,\"met\":%s}",
              quoted(aim.aim()),
              aim.ratio(),
              aim.target(),
              aim.met()));
    }
    return "{\"bench\":%s,\"machine\":%s,\"results\":%s,\"aims\":%s}"
        .formatted(quoted(bench), machineJson, resultList, aimList);
  }

  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", " ") + '"';
  }
}
