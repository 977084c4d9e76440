package dev.lockstep.job;

import dev.lockstep.sql.RoundTrip.Rows;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Compares the rows that statements name with the rows they return. */
final class RowTally {
  private final List<Statement> partial = new ArrayList<>();
  private final List<Statement> exact = new ArrayList<>();

  private record Statement(Rows<JobId> returned, List<JobRow> named) {
    boolean isExact() {
      if (returned.list().size() != named.size()) {
        return false;
      }
      Set<JobId> left = new HashSet<>(returned.list());
      return named.stream().allMatch(row -> left.remove(row.id()));
    }
  }

  /** Adds a statement. Rows that it does not return are {@link #refused}. */
  void expectSome(Rows<JobId> returned, List<JobRow> named) {
    partial.add(new Statement(returned, named));
  }

  /** Adds a statement that must return each row, and no others. */
  void expectAll(Rows<JobId> returned, List<JobRow> named) {
    exact.add(new Statement(returned, named));
  }

  /** Whether each statement that must return all rows did. */
  boolean isExact() {
    return exact.stream().allMatch(Statement::isExact);
  }

  Set<JobId> refused() {
    Set<JobId> refused = new HashSet<>();
    for (Statement one : partial) {
      if (one.returned().list().size() < one.named().size()) {
        one.named().forEach(row -> refused.add(row.id()));
        one.returned().list().forEach(refused::remove);
      }
    }
    return refused;
  }
}
