package dev.lockstep.prove.check;

import dev.lockstep.prove.history.History;
import dev.lockstep.prove.history.Op;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Finds what is wrong with a history. Stateless. */
public interface Checker {
  String name();

  /** The parts that can be judged alone, by name. Calls about no part are left out. */
  Map<String, History> parts(History history);

  /** What is wrong with one part. */
  List<Violation> check(String part, History history);

  default List<Violation> check(History history) {
    List<Violation> all = new ArrayList<>();
    parts(history).forEach((part, own) -> all.addAll(check(part, own)));
    return all;
  }

  /**
   * Whether a history that breaks the rule stays valid without this call. True for calls that had
   * no effect; a checker may allow more.
   */
  default boolean droppable(String rule, Op op) {
    return op.failed() || op.refused();
  }
}
