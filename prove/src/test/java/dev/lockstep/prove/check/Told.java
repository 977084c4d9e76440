package dev.lockstep.prove.check;

import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.History;
import dev.lockstep.prove.history.Op;
import dev.lockstep.prove.history.Status;
import java.util.ArrayList;
import java.util.List;

/** Makes up a history, call by call. Times are milliseconds. */
final class Told {
  private static final long MS = 1_000_000;

  private final List<Op> ops = new ArrayList<>();

  Told ok(long start, long end, String kind, Fields args, Fields result) {
    return add(start, end * MS, kind, args, Status.OK, result);
  }

  Told refused(long start, long end, String kind, Fields args, Fields result) {
    return add(start, end * MS, kind, args, Status.REFUSED, result);
  }

  Told failed(long start, long end, String kind, Fields args) {
    return add(start, end * MS, kind, args, Status.FAILED, Fields.of("why", "fault"));
  }

  Told unknown(long start, String kind, Fields args) {
    return add(start, Op.NEVER, kind, args, Status.UNKNOWN, Fields.of("why", "lost"));
  }

  private Told add(long start, long end, String kind, Fields args, Status status, Fields result) {
    int number = ops.size() + 1;
    ops.add(new Op(number, number, 0, kind, args, start * MS, end, status, result));
    return this;
  }

  /** The driver's clock and the database's are the same. */
  History history() {
    return new History(ops, 0);
  }

  List<String> broken(Checker checker) {
    return checker.check(history()).stream().map(Violation::rule).toList();
  }
}
