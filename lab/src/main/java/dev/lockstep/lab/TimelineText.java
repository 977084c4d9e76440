package dev.lockstep.lab;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Draws a timeline for a terminal: sessions side by side, with their waits. */
public final class TimelineText {
  private static final int MAX_ROWS = 8;
  private static final int GUTTER = 5;
  private static final int GAP = 2;

  private final Timeline timeline;
  private final int width;
  private final StringBuilder text = new StringBuilder();

  private TimelineText(Timeline timeline, int width) {
    this.timeline = timeline;
    this.width = (width - GUTTER) / timeline.sessions().size() - GAP;
  }

  /**
   * Renders everything: question, steps, final state, verdict, why and cure.
   *
   * @param columns of the terminal; longer lines are wrapped
   */
  public static String of(Timeline timeline, int columns) {
    return new TimelineText(timeline, columns).draw(columns);
  }

  /** A step is sent and answered, or sent and waits, or continues after its wait. */
  private record Moment(long atUs, PlayedStep step, boolean continues) {}

  private String draw(int columns) {
    Scenario scenario = timeline.scenario();
    text.append(scenario.title()).append('\n');
    text.append(
        "%s · %s · %s · PostgreSQL %s%n%n"
            .formatted(
                scenario.id(),
                timeline.variant().label(),
                Level.words(timeline.isolation()),
                timeline.serverVersion()));
    paragraph("", scenario.question(), columns);
    text.append('\n');
    line("", column -> timeline.sessions().get(column));
    line("", column -> "─".repeat(width));
    for (Moment moment : moments()) {
      draw(moment);
    }
    text.append("\nIn the end\n");
    rows(timeline.finalState(), "  ").forEach(row -> text.append(row).append('\n'));
    text.append('\n');
    Verdict verdict = timeline.verdict();
    paragraph(verdict.anomaly() ? "It happened. " : "Prevented. ", verdict.sentence(), columns);
    paragraph("Why: ", scenario.why(), columns);
    paragraph("Cure: ", scenario.cure(), columns);
    return text.toString();
  }

  private List<Moment> moments() {
    List<Moment> moments = new ArrayList<>();
    for (PlayedStep step : timeline.steps()) {
      moments.add(new Moment(step.startedUs(), step, false));
      if (step.blockedUs().isPresent()) {
        moments.add(new Moment(step.finishedUs(), step, true));
      }
    }
    moments.sort(Comparator.comparingLong(Moment::atUs));
    return moments;
  }

  private void draw(Moment moment) {
    PlayedStep step = moment.step();
    int own = timeline.sessions().indexOf(step.session());
    List<String> lines = new ArrayList<>();
    boolean waits = step.blockedUs().isPresent();
    if (moment.continues()) {
      lines.addAll(marked("└ ", outcome(step)));
    } else {
      lines.addAll(wrapped(statement(step), width));
      if (!step.note().isEmpty()) {
        lines.addAll(marked("# ", List.of(step.note())));
      }
      if (waits) {
        String lock = step.awaitedLock().map(name -> " (" + name + ")").orElse("");
        lines.addAll(
            marked("┆ ", List.of("waits for " + String.join(", ", step.blockedBy()) + lock)));
      } else {
        lines.addAll(marked("→ ", outcome(step)));
      }
    }
    for (int i = 0; i < lines.size(); i++) {
      String number = i == 0 ? "%3d".formatted(step.number()) : "";
      String words = lines.get(i);
      line(number, column -> column == own ? words : waiting(column, moment.atUs()));
    }
  }

  /** Another session's cell: a bar while it waits. */
  private String waiting(int column, long atUs) {
    String name = timeline.sessions().get(column);
    boolean waits =
        timeline.steps().stream()
            .anyMatch(
                step ->
                    step.session().equals(name)
                        && step.blockedUs().isPresent()
                        && step.startedUs() < atUs
                        && step.finishedUs() > atUs);
    return waits ? "┆" : "";
  }

  private static String statement(PlayedStep step) {
    String sql = step.sql().replaceAll("\\s+", " ");
    return step.parameters().isEmpty() ? sql : sql + "   -- " + step.parameters();
  }

  private List<String> outcome(PlayedStep step) {
    Outcome outcome = step.outcome();
    if (outcome instanceof Outcome.Rows rows) {
      return rows(rows, "");
    }
    if (outcome instanceof Outcome.Changed changed) {
      return List.of(changed.count() == 1 ? "1 row" : changed.count() + " rows");
    }
    if (outcome instanceof Outcome.Failed failed) {
      return List.of("ERROR " + failed.sqlState() + ": " + failed.message());
    }
    if (outcome instanceof Outcome.Skipped skipped) {
      return List.of("not sent: " + skipped.why());
    }
    return step.blockedUs().isPresent() ? List.of("done") : List.of();
  }

  private static List<String> rows(Outcome.Rows rows, String indent) {
    List<String> lines = new ArrayList<>();
    for (List<String> row : rows.rows().subList(0, Math.min(MAX_ROWS, rows.rows().size()))) {
      List<String> cells = new ArrayList<>();
      for (int i = 0; i < row.size(); i++) {
        cells.add(rows.columns().get(i) + " = " + row.get(i));
      }
      lines.add(indent + String.join(", ", cells));
    }
    if (lines.isEmpty()) {
      lines.add(indent + "no rows");
    }
    if (rows.rows().size() > MAX_ROWS) {
      lines.add(String.format(Locale.ROOT, "%s… %d rows", indent, rows.rows().size()));
    }
    return lines;
  }

  private List<String> marked(String mark, List<String> lines) {
    List<String> marked = new ArrayList<>();
    for (String line : lines) {
      for (String part : wrapped(line, width - mark.length())) {
        marked.add((marked.isEmpty() ? mark : " ".repeat(mark.length())) + part);
      }
    }
    return marked;
  }

  private interface Cell {
    String of(int column);
  }

  private void line(String number, Cell cell) {
    StringBuilder line = new StringBuilder("%-5s".formatted(number));
    for (int i = 0; i < timeline.sessions().size(); i++) {
      line.append(("%-" + (width + GAP) + "s").formatted(cell.of(i)));
    }
    text.append(line.toString().stripTrailing()).append('\n');
  }

  private void paragraph(String lead, String words, int columns) {
    wrapped(lead + words, columns).forEach(line -> text.append(line).append('\n'));
  }

  /** Wraps at spaces where possible. */
  static List<String> wrapped(String words, int columns) {
    List<String> lines = new ArrayList<>();
    String rest = words;
    while (rest.length() > columns) {
      int space = rest.lastIndexOf(' ', columns);
      int end = space > 0 ? space : columns;
      lines.add(rest.substring(0, end));
      rest = rest.substring(end).stripLeading();
    }
    lines.add(rest);
    return lines;
  }
}
