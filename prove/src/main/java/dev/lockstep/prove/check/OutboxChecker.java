package dev.lockstep.prove.check;

import dev.lockstep.prove.history.History;
import dev.lockstep.prove.history.Op;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * For each key and sink the first occurrences come as 1, 2, 3 …; what was committed arrives, what
 * was rolled back never does; a sequence has one content; sequences follow the calls in time.
 */
final class OutboxChecker implements Checker {
  @Override
  public String name() {
    return "outbox";
  }

  @Override
  public Map<String, History> parts(History history) {
    return Checkers.split(
        history,
        op ->
            switch (op.kind()) {
              case "outbox.append" -> op.args().parts("keys", ",");
              case "sink.took", "sink.refused" -> List.of(op.result().text("key"));
              case "final.events", "outbox.skip", "outbox.retry", "outbox.replay" ->
                  List.of(op.args().text("key"));
              default -> List.of();
            });
  }

  @Override
  public List<Violation> check(String key, History history) {
    List<Violation> found = new ArrayList<>();
    Map<Long, String> contents = new TreeMap<>();
    boolean wasRead = false;
    for (Op op : history.of("final.events").toList()) {
      wasRead = true;
      long expected = 1;
      for (String each : op.result().parts("events", ",")) {
        String[] parts = each.split(":", -1);
        contents.put(Long.parseLong(parts[0]), parts[1]);
        if (Long.parseLong(parts[0]) != expected++) {
          found.add(
              of("sequences have no gap", key, "expected %d: %s".formatted(expected - 1, op)));
        }
      }
    }
    appended(key, history, contents, wasRead, found);
    delivered(key, history, contents, wasRead, found);
    return found;
  }

  private void appended(
      String key,
      History history,
      Map<Long, String> contents,
      boolean wasRead,
      List<Violation> found) {
    Map<String, Long> seqs = new HashMap<>();
    contents.forEach((seq, body) -> seqs.put(body, seq));
    if (seqs.size() != contents.size()) {
      found.add(of("an event is appended once", key, "a content has two sequences"));
    }
    List<Op> appends = history.of("outbox.append").toList();
    for (Op op : appends) {
      Long seq = seqs.get(op.args().text("body"));
      if (wasRead && op.ok() && seq == null) {
        found.add(of("what was committed is there", key, op.toString()));
      }
      if (op.failed() && seq != null) {
        found.add(of("what was rolled back is not there", key, op.toString()));
      }
      int place = op.args().parts("keys", ",").indexOf(key);
      List<Long> answered = op.ok() ? op.result().numbers("seqs") : List.of();
      if (seq != null && place < answered.size() && !answered.get(place).equals(seq)) {
        found.add(of("an answered sequence is final", key, "it is %d: %s".formatted(seq, op)));
      }
      for (Op other : appends) {
        Long next = seqs.get(other.args().text("body"));
        if (seq != null && next != null && op.before(other) && seq > next) {
          found.add(new Violation(name(), "sequences follow time", key, "", List.of(op, other)));
          return;
        }
      }
    }
  }

  private void delivered(
      String key,
      History history,
      Map<Long, String> contents,
      boolean wasRead,
      List<Violation> found) {
    Set<String> rolledBack = new HashSet<>();
    history
        .of("outbox.append")
        .filter(Op::failed)
        .forEach(op -> rolledBack.add(op.args().text("body")));
    // By sink: what a skip may have passed over.
    Set<String> skipped = new HashSet<>();
    history
        .of("outbox.skip")
        .filter(op -> op.ok() || op.unknown())
        .forEach(op -> skipped.add(op.args().text("sink") + op.args().text("seq")));
    Map<String, Long> newest = new TreeMap<>();
    Map<Long, String> sent = new HashMap<>(contents);
    for (Op op : history.ops()) {
      if (!op.is("sink.took") && !op.is("sink.refused")) {
        continue;
      }
      String sink = op.result().text("sink");
      long seq = op.result().number("seq");
      String body = op.result().text("body");
      if (rolledBack.contains(body)) {
        found.add(of("what was rolled back is not sent", key, op.toString()));
      }
      String before = sent.putIfAbsent(seq, body);
      if (before != null && !before.equals(body)) {
        found.add(of("a sequence has one content", key, op + " was " + before));
      }
      long next = newest.getOrDefault(sink, 0L) + 1;
      while (seq > next && skipped.contains(sink + next)) {
        next++;
      }
      if (seq > next) {
        found.add(of("first occurrences in order", key, "expected %d: %s".formatted(next, op)));
        return;
      }
      if (op.is("sink.took") && seq == next) {
        newest.put(sink, seq);
      }
    }
    long last = contents.isEmpty() ? 0 : new TreeMap<>(contents).lastKey();
    for (String sink : wasRead ? List.of("a", "b") : List.<String>of()) {
      long reached = newest.getOrDefault(sink, 0L);
      while (reached < last && skipped.contains(sink + (reached + 1))) {
        reached++;
      }
      if (reached < last) {
        found.add(
            of(
                "what was committed is sent",
                key,
                "%s has %d of %d".formatted(sink, reached, last)));
      }
    }
  }

  private Violation of(String rule, String key, String why) {
    return new Violation(name(), rule, key, why, List.of());
  }
}
