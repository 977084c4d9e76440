package dev.lockstep.prove.check;

import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.History;
import dev.lockstep.prove.history.Op;
import dev.lockstep.prove.history.Status;
import java.util.ArrayList;
import java.util.List;

/** Shortens a history that breaks a promise for as long as it still breaks the same one. */
public final class Shrinker {
  private static final int MAX_TRIES = 4_000;

  private final Checker checker;
  private final String part;
  private final String rule;
  private int tries;

  private Shrinker(Checker checker, String part, String rule) {
    this.checker = checker;
    this.part = part;
    this.rule = rule;
  }

  /**
   * The shortest history found that breaks the rule of this violation; whole if none is shorter.
   */
  public static History shrink(History whole, Violation violation) {
    Checker checker = Checkers.named(violation.checker());
    for (var each : checker.parts(whole).entrySet()) {
      Shrinker shrinker = new Shrinker(checker, each.getKey(), violation.rule());
      boolean meant =
          checker.check(each.getKey(), each.getValue()).stream()
              .anyMatch(
                  v -> v.rule().equals(violation.rule()) && v.part().equals(violation.part()));
      if (meant) {
        return shrinker.shrink(each.getValue());
      }
    }
    return whole;
  }

  private History shrink(History own) {
    return withoutIdle(shortestPrefix(own));
  }

  private boolean breaks(History history) {
    tries++;
    return checker.check(part, history).stream().anyMatch(v -> v.rule().equals(rule));
  }

  /** Cuts the history off at the earliest instant that still shows the violation. */
  private History shortestPrefix(History whole) {
    List<Op> ops = whole.ops();
    int low = 0;
    int high = ops.size();
    while (low + 1 < high && tries < MAX_TRIES) {
      int middle = (low + high) / 2;
      if (breaks(prefix(whole, ops.get(middle).start()))) {
        high = middle;
      } else {
        low = middle;
      }
    }
    return high == ops.size() ? whole : prefix(whole, ops.get(high).start());
  }

  private static History prefix(History whole, long until) {
    List<Op> ops = new ArrayList<>();
    for (Op op : whole.ops()) {
      if (op.end() <= until) {
        ops.add(op);
      } else if (op.start() < until && !op.kind().startsWith("final.")) {
        ops.add(
            new Op(
                op.id(),
                op.client(),
                op.node(),
                op.kind(),
                op.args(),
                op.start(),
                Op.NEVER,
                Status.UNKNOWN,
                Fields.of("why", "later")));
      }
    }
    return new History(ops, whole.wallOffsetNanos());
  }

  /** Leaves calls out, in ever smaller groups. */
  private History withoutIdle(History history) {
    List<Op> ops = new ArrayList<>(history.ops());
    for (int size = Math.max(1, ops.size() / 2); size >= 1; size /= 2) {
      for (int from = 0; from < ops.size() && tries < MAX_TRIES; ) {
        List<Op> fewer = new ArrayList<>(ops.subList(0, from));
        int to = Math.min(ops.size(), from + size);
        for (Op op : ops.subList(from, to)) {
          if (!checker.droppable(rule, op)) {
            fewer.add(op);
          }
        }
        fewer.addAll(ops.subList(to, ops.size()));
        if (fewer.size() < ops.size() && breaks(new History(fewer, history.wallOffsetNanos()))) {
          ops = fewer;
        } else {
          from += size;
        }
      }
    }
    return new History(ops, history.wallOffsetNanos());
  }
}
