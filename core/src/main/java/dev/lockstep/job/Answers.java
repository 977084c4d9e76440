package dev.lockstep.job;

import dev.lockstep.sql.RoundTrip.Rows;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Compares the rows each statement asked for with the rows it returned. */
final class Answers {
  private final List<Answer> named = new ArrayList<>();
  private final List<Answer> exact = new ArrayList<>();

  private record Answer(Rows<JobId> accepted, List<JobRow> asked) {
    boolean addsUp() {
      if (accepted.list().size() != asked.size()) {
        return false;
      }
      Set<JobId> left = new HashSet<>(accepted.list());
      return asked.stream().allMatch(row -> left.remove(row.id()));
    }
  }

  void named(Rows<JobId> accepted, List<JobRow> asked) {
    named.add(new Answer(accepted, asked));
  }

  void exact(Rows<JobId> accepted, List<JobRow> asked) {
    exact.add(new Answer(accepted, asked));
  }

  /** Whether every exact delete returned precisely the rows it asked for. */
  boolean addUp() {
    return exact.stream().allMatch(Answer::addsUp);
  }

  Set<JobId> refused() {
    Set<JobId> refused = new HashSet<>();
    for (Answer answer : named) {
      if (answer.accepted().list().size() < answer.asked().size()) {
        answer.asked().forEach(row -> refused.add(row.id()));
        answer.accepted().list().forEach(refused::remove);
      }
    }
    return refused;
  }
}
