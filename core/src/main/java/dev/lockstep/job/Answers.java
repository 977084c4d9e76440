package dev.lockstep.job;

import dev.lockstep.tx.RoundTrip.Rows;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What was asked for, and what came of it. */
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

  /** Whether those that were to be deleted all or none are exactly these. */
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
