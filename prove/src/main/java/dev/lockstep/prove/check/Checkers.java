package dev.lockstep.prove.check;

import dev.lockstep.prove.history.History;
import dev.lockstep.prove.history.Op;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** All checkers. */
public final class Checkers {
  public static final List<Checker> ALL =
      List.of(
          new HoldChecker(),
          new OnceChecker(),
          new JobChecker(),
          new OutboxChecker(),
          new LedgerChecker(),
          new IsolationChecker(),
          new SaleChecker(),
          new PurchaseChecker());

  private Checkers() {}

  /**
   * The result of checking a history.
   *
   * @param parts how many parts were judged
   * @param undecided parts for which the search for an order was given up; their other rules were
   *     checked
   */
  public record Verdict(List<Violation> violations, long parts, long undecided) {}

  /** Judges part by part. */
  public static Verdict check(History history) {
    List<Violation> all = new ArrayList<>();
    long count = 0;
    for (Checker checker : ALL) {
      Map<String, History> parts = checker.parts(history);
      count += parts.size();
      parts.forEach((part, own) -> all.addAll(checker.check(part, own)));
    }
    List<Violation> broken = all.stream().filter(each -> !each.isUndecided()).toList();
    return new Verdict(broken, count, all.size() - broken.size());
  }

  public static Checker named(String name) {
    return ALL.stream().filter(c -> c.name().equals(name)).findFirst().orElseThrow();
  }

  /** Splits by the names that a call has; a call may be in several parts. */
  static Map<String, History> split(History history, Function<Op, List<String>> names) {
    Map<String, List<Op>> byName = new TreeMap<>();
    for (Op op : history.ops()) {
      for (String name : names.apply(op)) {
        byName.computeIfAbsent(name, n -> new ArrayList<>()).add(op);
      }
    }
    Map<String, History> parts = new TreeMap<>();
    byName.forEach((name, ops) -> parts.put(name, new History(ops, history.wallOffsetNanos())));
    return parts;
  }
}
