package dev.lockstep.prove.check;

import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.History;
import dev.lockstep.prove.history.Op;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One effect per key: every caller that got an answer got that effect's answer. */
final class OnceChecker implements Checker {
  @Override
  public String name() {
    return "once";
  }

  @Override
  public Map<String, History> parts(History history) {
    Map<String, History> parts =
        Checkers.split(
            history, op -> op.is("once.run") ? List.of(op.args().text("key")) : List.of());
    List<Op> reads = history.of("final.effects").toList();
    if (reads.isEmpty()) {
      return parts;
    }
    // Each key gets its own effects from the final read.
    Op read = reads.get(reads.size() - 1);
    Map<String, List<String>> effects = new HashMap<>();
    for (String each : read.result().parts("effects", ",")) {
      String key = each.substring(0, each.lastIndexOf(':'));
      effects.computeIfAbsent(key, k -> new ArrayList<>()).add(each);
    }
    parts.replaceAll(
        (key, own) -> {
          List<Op> ops = new ArrayList<>(own.ops());
          String its = String.join(",", effects.getOrDefault(key, List.of()));
          ops.add(read.with(Fields.of("effects", its)));
          return new History(ops, history.wallOffsetNanos());
        });
    return parts;
  }

  @Override
  public List<Violation> check(String key, History history) {
    List<String> effects = new ArrayList<>();
    history
        .of("final.effects")
        .forEach(
            op -> {
              effects.clear();
              for (String each : op.result().parts("effects", ",")) {
                effects.add(each.substring(key.length() + 1));
              }
            });
    boolean wasRead = history.of("final.effects").findAny().isPresent();
    List<Violation> found = new ArrayList<>();
    List<Op> done = history.of("once.run").filter(Op::ok).toList();
    if (effects.size() > 1) {
      found.add(of("one effect for each key", key, "effects " + effects));
    }
    if (wasRead && effects.isEmpty() && !done.isEmpty()) {
      found.add(of("an answer has its effect", key, "answered, and no effect: " + done.get(0)));
    }
    if (done.stream().map(op -> op.result().text("answer")).distinct().count() > 1) {
      found.add(of("one answer for each key", key, "different answers: " + done));
    }
    if (done.stream().filter(op -> !op.result().flag("replayed")).count() > 1) {
      found.add(of("one call has the effect", key, "several were told that theirs had: " + done));
    }
    if (done.stream().map(op -> op.args().text("body")).distinct().count() > 1) {
      found.add(of("another request is refused", key, "both were answered: " + done));
    }
    for (Op op : history.of("once.run").filter(o -> o.failed() || o.refused()).toList()) {
      if (effects.contains(op.args().text("op"))) {
        found.add(of("a failed call has no effect", key, op.toString()));
      }
    }
    return found;
  }

  private Violation of(String rule, String key, String why) {
    return new Violation(name(), rule, key, why, List.of());
  }
}
