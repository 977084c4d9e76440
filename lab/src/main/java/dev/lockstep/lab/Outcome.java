package dev.lockstep.lab;

import java.util.List;

/** What a session got for a step. */
public sealed interface Outcome {
  /**
   * Rows, as text; {@code NULL} where there is no value.
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

  /** So many rows were changed. */
  record Changed(long count) implements Outcome {}

  /** It worked, and there is nothing to show. */
  record Done() implements Outcome {}

  /**
   * PostgreSQL refused it.
   *
   * @param sqlState which is what programs decide by
   * @param message which is what people read
   */
  record Failed(String sqlState, String message) implements Outcome {}

  /** It was not sent: what the session saw before left no reason to. */
  record Skipped(String why) implements Outcome {}
}
