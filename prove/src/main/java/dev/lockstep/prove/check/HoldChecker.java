package dev.lockstep.prove.check;

import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.History;
import dev.lockstep.prove.history.Op;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Each pool and each buyer is linearizable: some order of the calls, each between its start and its
 * end, explains every grant, every refusal with its numbers, and every end. Expiry is a call of its
 * own, at the time that the grant named.
 */
final class HoldChecker implements Checker {
  /** The most steps of one search; beyond, only rules that need no search are checked. */
  private static final long MAX_STEPS = 400_000;

  @Override
  public String name() {
    return "holds";
  }

  @Override
  public Map<String, History> parts(History history) {
    // The pools and the buyer that a hold ever has, from all calls about it and their answers.
    Map<String, List<String>> parts = new HashMap<>();
    for (Op op : history.ops()) {
      if (op.args().has("hold")) {
        List<String> own = parts.computeIfAbsent(op.args().text("hold"), h -> new ArrayList<>());
        String scope = op.args().text("scope");
        add(own, lines(op.args()), scope);
        add(own, lines(op.result()), scope);
        if (op.args().has("buyer")) {
          String buyer = scope + "/" + op.args().text("buyer");
          if (!own.contains(buyer)) {
            own.add(buyer);
          }
        }
      }
    }
    Map<String, History> split =
        Checkers.split(
            history,
            op -> {
              if (op.is("hold.open") || op.is("final.pools")) {
                return List.of();
              }
              return op.args().has("hold")
                  ? parts.getOrDefault(op.args().text("hold"), List.of())
                  : List.of();
            });
    return withOpenings(history, split);
  }

  /** Every part begins with the creation of its scope and ends with the final counts. */
  private static Map<String, History> withOpenings(History history, Map<String, History> split) {
    Map<String, List<Op>> frames = new HashMap<>();
    for (Op op : history.ops()) {
      if (op.is("hold.open") || op.is("final.pools")) {
        frames.computeIfAbsent(op.args().text("scope"), s -> new ArrayList<>()).add(op);
      }
    }
    Map<String, History> whole = new TreeMap<>();
    split.forEach(
        (part, own) -> {
          List<Op> ops = new ArrayList<>(own.ops());
          ops.addAll(frames.getOrDefault(part.substring(0, part.indexOf('/')), List.of()));
          whole.put(part, new History(ops, history.wallOffsetNanos()));
        });
    return whole;
  }

  private static void add(List<String> parts, Map<String, Integer> lines, String scope) {
    for (String pool : lines.keySet()) {
      String part = scope + "/" + pool;
      if (!parts.contains(part)) {
        parts.add(part);
      }
    }
  }

  /** Quantities by pool; pools are numbers, buyers are not. */
  static Map<String, Integer> lines(Fields fields) {
    Map<String, Integer> lines = new TreeMap<>();
    for (String line : fields.parts("lines", ",")) {
      String[] parts = line.split(":", -1);
      lines.merge(parts[0], Integer.parseInt(parts[1]), Integer::sum);
    }
    return lines;
  }

  @Override
  public List<Violation> check(String part, History history) {
    String name = part.substring(part.indexOf('/') + 1);
    boolean isBuyer = !Character.isDigit(name.charAt(0));
    List<Violation> found = new ArrayList<>();
    List<Op> open = history.of("hold.open").toList();
    if (open.isEmpty()) {
      return found;
    }
    long capacity = isBuyer ? open.get(0).args().number("limit", 0) : total(open.get(0), name);
    StockHistory stock = new StockHistory(history, isBuyer ? "" : name, capacity);
    if (!isBuyer) {
      stock.unitsTwice().ifPresent(why -> found.add(of("a unit has one live hold", part, why)));
    }
    stock
        .overfull()
        .ifPresent(
            why -> found.add(of(isBuyer ? "limit never passed" : "never oversold", part, why)));
    stock.lateUse().ifPresent(why -> found.add(of("an expired hold has ended", part, why)));
    stock.endings().ifPresent(why -> found.add(of("a hold ends once", part, why)));
    if (found.isEmpty()) {
      switch (stock.decide(MAX_STEPS)) {
        case NO ->
            found.add(
                of(
                    isBuyer ? "a buyer is linearizable" : "a pool is linearizable",
                    part,
                    "no order of these calls explains all answers"));
        case PERHAPS -> found.add(Violation.undecided(name(), part));
        case YES -> {
          // As it should be.
        }
      }
    }
    return found;
  }

  /** Without some of the calls that took stock, too much may still be taken. */
  @Override
  public boolean droppable(String rule, Op op) {
    boolean takes = op.is("hold.acquire") || op.is("hold.extend") || op.kind().startsWith("final.");
    return op.failed()
        || op.refused()
        || (takes && !rule.endsWith("is linearizable") && !rule.equals("a hold ends once"));
  }

  private Violation of(String rule, String part, String why) {
    return new Violation(name(), rule, part, why, List.of());
  }

  private static long total(Op open, String pool) {
    for (String each : open.args().parts("pools", ",")) {
      String[] parts = each.split(":", -1);
      if (parts[0].equals(pool)) {
        return Long.parseLong(parts[1]);
      }
    }
    return 0;
  }
}
