package dev.lockstep.lab;

import dev.lockstep.fault.SqlFault;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** What the sessions have seen so far, for the conditions of steps and for the judge. */
final class Observations {
  private final List<PlayedStep> steps = new ArrayList<>();
  private final Map<String, PlayedStep> byName = new HashMap<>();
  private final Map<String, Boolean> committed = new HashMap<>();
  private Outcome.Rows finalState = new Outcome.Rows(List.of(), List.of());

  void add(PlayedStep step, String name) {
    steps.add(step);
    if (!name.isEmpty()) {
      byName.put(name, step);
    }
  }

  void ended(String session, boolean byCommit) {
    committed.put(session, byCommit);
  }

  void seeFinalState(Outcome.Rows rows) {
    finalState = rows;
  }

  /** Whether the session's last transaction was committed. */
  boolean committed(String session) {
    return committed.getOrDefault(session, false);
  }

  /** Whether a step returned a row or changed one. */
  boolean any(String name) {
    return !rows(name).isEmpty() || changed(name) > 0;
  }

  List<List<String>> rows(String name) {
    PlayedStep step = byName.get(name);
    return step != null && step.outcome() instanceof Outcome.Rows found ? found.rows() : List.of();
  }

  long changed(String name) {
    PlayedStep step = byName.get(name);
    return step != null && step.outcome() instanceof Outcome.Changed changed ? changed.count() : 0;
  }

  /** The value in the first row and column, or "nothing". */
  String text(String name) {
    return rows(name).isEmpty() ? "nothing" : rows(name).get(0).get(0);
  }

  /** The number in the first row and column, -1 if there is none. */
  long number(String name) {
    return rows(name).isEmpty() ? -1 : Long.parseLong(rows(name).get(0).get(0));
  }

  /** Whether a value occurs anywhere in a step's result. */
  boolean contains(String name, String value) {
    return rows(name).stream().anyMatch(row -> row.contains(value));
  }

  boolean failed(String name) {
    PlayedStep step = byName.get(name);
    return step != null && step.outcome() instanceof Outcome.Failed;
  }

  boolean waited(String name) {
    PlayedStep step = byName.get(name);
    return step != null && step.blockedUs().isPresent();
  }

  /** The sessions that had a fault of this kind. */
  List<String> victimsOf(SqlFault fault) {
    return steps.stream()
        .filter(step -> step.outcome() instanceof Outcome.Failed f && kind(f) == fault)
        .map(PlayedStep::session)
        .distinct()
        .toList();
  }

  boolean someoneWaited() {
    return steps.stream().anyMatch(step -> step.blockedUs().isPresent());
  }

  /** SQLSTATEs, sorted, each once. */
  List<String> refusals() {
    TreeSet<String> states = new TreeSet<>();
    for (PlayedStep step : steps) {
      if (step.outcome() instanceof Outcome.Failed failed) {
        states.add(failed.sqlState());
      }
    }
    return List.copyOf(states);
  }

  List<List<String>> finalRows() {
    return finalState.rows();
  }

  /** A value of the first row of the final state. */
  long finalNumber(int column) {
    return Long.parseLong(finalState.rows().get(0).get(column));
  }

  private static SqlFault kind(Outcome.Failed failed) {
    return SqlFault.of(new SQLException(failed.message(), failed.sqlState()));
  }
}
