package dev.lockstep.prove.check;

import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.History;
import dev.lockstep.prove.history.Op;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** A sale is whole: hold, transfer, event and job all exist, once, or none of them does. */
final class SaleChecker implements Checker {
  private static final int UUID_LENGTH = 36;

  @Override
  public String name() {
    return "sales";
  }

  @Override
  public Map<String, History> parts(History history) {
    Map<String, History> sales =
        Checkers.split(
            history,
            op -> op.kind().startsWith("sale.") ? List.of(op.args().text("hold")) : List.of());
    Map<String, History> about =
        Checkers.split(
            history,
            op ->
                switch (op.kind()) {
                  case "final.hold" -> List.of(op.args().text("hold"));
                  case "final.transfer" -> List.of(op.args().text("id"));
                  case "sink.took" -> List.of(op.result().text("body"));
                  default -> List.of();
                });
    List<Op> reads = history.of("final.done").toList();
    // A job's name ends with its hold.
    Map<String, Set<String>> done = new HashMap<>();
    for (Op read : reads) {
      for (String each : read.result().parts("done", ",")) {
        String name = each.split(";", -1)[1];
        String hold = name.substring(Math.max(0, name.length() - UUID_LENGTH));
        done.computeIfAbsent(hold, h -> new TreeSet<>()).add(each);
      }
    }
    sales.replaceAll(
        (hold, own) -> {
          List<Op> ops = new ArrayList<>(own.ops());
          ops.addAll(about.getOrDefault(hold, new History(List.of(), 0)).ops());
          if (!reads.isEmpty()) {
            String its = String.join(",", done.getOrDefault(hold, Set.of()));
            ops.add(reads.get(0).with(Fields.of("done", its)));
          }
          return new History(ops, history.wallOffsetNanos());
        });
    return sales;
  }

  @Override
  public List<Violation> check(String hold, History history) {
    List<Violation> found = new ArrayList<>();
    List<Fields> holds = history.of("final.hold").map(Op::result).toList();
    List<Fields> transfers = history.of("final.transfer").map(Op::result).toList();
    List<Op> done = history.of("final.done").toList();
    if (holds.isEmpty() || transfers.isEmpty() || done.isEmpty()) {
      return found;
    }
    boolean isHeld = !holds.get(0).text("state").equals("NONE");
    boolean isMoved = transfers.get(0).text("state").equals("POSTED");
    long events =
        history.of("sink.took").filter(op -> op.result().text("sink").equals("a")).count();
    long jobs =
        done.stream()
            .flatMap(op -> op.result().parts("done", ",").stream())
            .filter(each -> each.split(";", -1)[1].endsWith(hold))
            .distinct()
            .count();
    if (isHeld != isMoved || isHeld != (events > 0) || isHeld != (jobs > 0) || jobs > 1) {
      found.add(
          of(
              "a sale is whole",
              hold,
              "hold %s, transfer %s, events %d, jobs %d".formatted(isHeld, isMoved, events, jobs)));
    }
    List<Op> calls = history.ops().stream().filter(op -> op.kind().startsWith("sale.")).toList();
    if (!isHeld && calls.stream().anyMatch(Op::ok)) {
      found.add(of("a granted sale exists", hold, "granted, and not there: " + calls));
    }
    if (isHeld && calls.stream().noneMatch(op -> op.ok() || op.unknown())) {
      found.add(of("a failed sale has no effect", hold, "nobody was granted it: " + calls));
    }
    return found;
  }

  private Violation of(String rule, String hold, String why) {
    return new Violation(name(), rule, hold, why, List.of());
  }
}
