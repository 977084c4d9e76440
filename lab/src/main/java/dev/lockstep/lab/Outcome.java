package dev.lockstep.lab;

import java.util.List;

/** The outcome of a step. */
public sealed interface Outcome {
  /**
   * Rows as text; {@code NULL} for no value.
   *
   * @param columns their names
   * @param rows in the order they came
   */
  record Rows(List<String> columns, List<List<String>> rows) implements Outcome {
    public Rows {
      columns = List.copyOf(columns);
      rows = rows.stream().map(List::copyOf).toList();
    }
  }

  /** The number of changed rows. */
  record Changed(long count) implements Outcome {}

  /** Success without a result to show. */
  record Done() implements Outcome {}

  /**
   * PostgreSQL refused it.
   *
   * @param sqlState for programs
   * @param message for people
   */
  record Failed(String sqlState, String message) implements Outcome {}

  /** Not sent: what the session had seen made it unnecessary. */
  record Skipped(String why) implements Outcome {}
}
