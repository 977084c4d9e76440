package dev.lockstep.lab;

import dev.lockstep.tx.Isolation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Every scenario's verdict at every level, on one server.
 *
 * @param serverVersion of PostgreSQL, {@code 18.6}
 * @param rows naive first; each variant in catalogue order
 */
public record Matrix(String serverVersion, List<Row> rows) {
  public Matrix {
    rows = List.copyOf(rows);
  }

  /** A scenario's verdicts. */
  public record Row(Scenario scenario, Variant variant, Map<Isolation, Verdict> verdicts) {
    public Row {
      verdicts = Map.copyOf(verdicts);
    }

    public Verdict at(Isolation isolation) {
      Verdict verdict = verdicts.get(isolation);
      if (verdict == null) {
        throw new IllegalStateException(scenario + " was not played at " + isolation);
      }
      return verdict;
    }
  }

  /** {@code 18} of {@code 18.6}. */
  public String majorVersion() {
    return serverVersion.split("\\D", 2)[0];
  }

  /** A table for terminals that is valid Markdown too. */
  public String table(Variant variant) {
    List<List<String>> lines = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of("Scenario"));
    for (Isolation isolation : Isolation.values()) {
      head.add(Level.words(isolation));
    }
    lines.add(head);
    for (Row row : rows) {
      if (row.variant() == variant) {
        List<String> line = new ArrayList<>(List.of(row.scenario().id()));
        for (Isolation isolation : Isolation.values()) {
          Verdict verdict = row.at(isolation);
          line.add(verdict.anomaly() ? "**happens**" : verdict.brief());
        }
        lines.add(line);
      }
    }
    return aligned(lines);
  }

  private static String aligned(List<List<String>> lines) {
    int[] widths = new int[lines.get(0).size()];
    for (List<String> line : lines) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], line.get(i).length());
      }
    }
    StringBuilder text = new StringBuilder();
    for (int n = 0; n < lines.size(); n++) {
      for (int i = 0; i < widths.length; i++) {
        String cell = lines.get(n).get(i);
        text.append("| ").append(cell).append(" ".repeat(widths[i] - cell.length() + 1));
      }
      text.append("|\n");
      if (n == 0) {
        for (int width : widths) {
          text.append('|').append("-".repeat(width + 2));
        }
        text.append("|\n");
      }
    }
    return text.toString();
  }
}
