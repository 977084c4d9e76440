package dev.lockstep.prove.check;

import dev.lockstep.prove.check.Linearizer.Call;
import dev.lockstep.prove.check.StockModel.Kind;
import dev.lockstep.prove.check.StockModel.Step;
import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.History;
import dev.lockstep.prove.history.Op;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Translates the calls about one pool, or one buyer, into steps of {@link StockModel}. */
final class StockHistory {
  /** How far apart the two clocks may be, in nanoseconds. */
  private static final long SLACK = 40_000_000;

  private final History history;
  // Empty: a buyer, whose quantities are summed over all pools.
  private final String pool;
  private final long capacity;
  private final Map<String, List<Op>> byHold = new TreeMap<>();
  private final Map<String, Fields> finals = new HashMap<>();

  StockHistory(History history, String pool, long capacity) {
    this.history = history;
    this.pool = pool;
    this.capacity = capacity;
    for (Op op : history.ops()) {
      if (!op.args().has("hold") || op.failed()) {
        continue;
      }
      byHold.computeIfAbsent(op.args().text("hold"), h -> new ArrayList<>()).add(op);
      if (op.is("final.hold") && op.ok()) {
        finals.put(op.args().text("hold"), op.result());
      }
    }
  }

  private int quantity(Fields fields) {
    Map<String, Integer> lines = HoldChecker.lines(fields);
    return pool.isEmpty()
        ? lines.values().stream().mapToInt(Integer::intValue).sum()
        : lines.getOrDefault(pool, 0);
  }

  private static boolean acquires(Op op) {
    return op.is("hold.acquire") || op.kind().startsWith("sale.");
  }

  private long expiry(Fields fields) {
    return fields.has("expires") ? fields.number("expires") : -1;
  }

  /** Whether the hold's expiry is unknown, because an extension got no answer. */
  private static boolean isVague(List<Op> ops) {
    return ops.stream().anyMatch(op -> op.is("hold.extend") && op.unknown());
  }

  private NavigableSet<Long> expiries(String hold) {
    NavigableSet<Long> known = new TreeSet<>();
    for (Op op : byHold.getOrDefault(hold, List.of())) {
      if (op.ok() && op.result().has("expires")) {
        known.add(op.result().number("expires"));
      }
      if (acquires(op) && op.unknown() && finals.containsKey(hold)) {
        first(hold, op).ifPresent(known::add);
      }
    }
    return known;
  }

  /** The expiry that an unanswered acquire gave its hold, derived from the final read. */
  private Optional<Long> first(String hold, Op acquire) {
    Fields last = finals.getOrDefault(hold, Fields.NONE);
    return last.has("created")
        ? Optional.of(last.number("created") + acquire.args().number("for") * 1_000)
        : Optional.empty();
  }

  private record Live(long from, long until, int quantity, String hold, List<String> units) {}

  /** The time in which a hold was certainly live, with its content. */
  private Optional<Live> live(String hold, List<Op> ops) {
    Op grant =
        ops.stream()
            .filter(op -> acquires(op) && op.ok() && !op.result().flag("replayed"))
            .findFirst()
            .orElse(null);
    if (grant == null) {
      return Optional.empty();
    }
    boolean sold = ops.stream().anyMatch(op -> op.is("hold.confirm") && op.ok());
    long until = sold ? Op.NEVER : history.driverNanos(expiry(grant.result())) - SLACK;
    for (Op op : ops) {
      boolean ends =
          op.is("hold.return") || op.is("hold.change") || (op.is("hold.release") && !sold);
      if (ends && !op.refused()) {
        until = Math.min(until, op.start());
      }
    }
    List<String> units = new ArrayList<>();
    for (String line : grant.result().parts("lines", ",")) {
      String[] parts = line.split(":", -1);
      if (parts.length == 3 && parts[0].equals(pool) && !parts[2].isEmpty()) {
        units.addAll(List.of(parts[2].split("\\.", -1)));
      }
    }
    return Optional.of(new Live(grant.end(), until, quantity(grant.result()), hold, units));
  }

  private List<Live> lives() {
    List<Live> all = new ArrayList<>();
    byHold.forEach((hold, ops) -> live(hold, ops).ifPresent(all::add));
    all.removeIf(live -> live.from() >= live.until());
    return all;
  }

  /** Says so if more than the capacity is certainly live at one instant. */
  Optional<String> overfull() {
    if (capacity == 0) {
      return Optional.empty();
    }
    TreeMap<Long, Integer> changes = new TreeMap<>();
    for (Live live : lives()) {
      changes.merge(live.from(), live.quantity(), Integer::sum);
      changes.merge(live.until(), -live.quantity(), Integer::sum);
    }
    long now = 0;
    for (int change : changes.values()) {
      now += change;
      if (now > capacity) {
        return Optional.of("%d are taken at one instant, of %d".formatted(now, capacity));
      }
    }
    return Optional.empty();
  }

  Optional<String> unitsTwice() {
    Map<String, List<Live>> byUnit = new HashMap<>();
    for (Live live : lives()) {
      for (String unit : live.units()) {
        List<Live> others = byUnit.computeIfAbsent(unit, u -> new ArrayList<>());
        for (Live other : others) {
          if (live.from() < other.until() && other.from() < live.until()) {
            return Optional.of(
                "unit %s is in %s and in %s".formatted(unit, other.hold(), live.hold()));
          }
        }
        others.add(live);
      }
    }
    return Optional.empty();
  }

  /** Says so if a hold was used after its expiry. */
  Optional<String> lateUse() {
    for (Map.Entry<String, List<Op>> each : byHold.entrySet()) {
      NavigableSet<Long> known = expiries(each.getKey());
      if (known.isEmpty() || isVague(each.getValue())) {
        continue;
      }
      long last = history.driverNanos(known.last()) + SLACK;
      for (Op op : each.getValue()) {
        boolean uses = op.is("hold.confirm") || op.is("hold.extend") || op.is("hold.change");
        if (uses && op.ok() && !op.result().flag("replayed") && op.start() > last) {
          return Optional.of("after its expiry: " + op);
        }
      }
    }
    return Optional.empty();
  }

  Optional<String> endings() {
    for (Map.Entry<String, List<Op>> each : byHold.entrySet()) {
      List<Op> ops = each.getValue();
      long sold = fresh(ops, "hold.confirm");
      long released = fresh(ops, "hold.release");
      long returned = fresh(ops, "hold.return");
      long granted = ops.stream().filter(op -> acquires(op) && freshly(op)).count();
      if (granted > 1 || sold + released > 1 || returned > 1) {
        return Optional.of(
            "hold %s: granted %d times, sold %d, released %d, returned %d"
                .formatted(each.getKey(), granted, sold, released, returned));
      }
    }
    return Optional.empty();
  }

  private static long fresh(List<Op> ops, String kind) {
    return ops.stream().filter(op -> op.is(kind) && freshly(op)).count();
  }

  private static boolean freshly(Op op) {
    return op.ok() && !op.result().flag("replayed");
  }

  /** Searches for an order that explains everything. */
  Linearizer.Answer decide(long maxSteps) {
    List<Step> steps = new ArrayList<>();
    List<Call> calls = new ArrayList<>();
    long last =
        history.ops().stream()
            .mapToLong(op -> op.end() == Op.NEVER ? op.start() : op.end())
            .max()
            .orElse(0);
    byHold.forEach(
        (hold, ops) -> {
          ops.forEach(op -> add(op, hold, steps, calls));
          boolean vague = isVague(ops);
          for (long expiry : expiries(hold)) {
            long at = history.driverNanos(expiry);
            if (at - SLACK <= last) {
              calls.add(new Call(steps.size(), at - SLACK, at + SLACK, !vague));
              steps.add(new Step(Kind.EXPIRE, hold, 0, expiry, false, true, "", 0));
            }
          }
        });
    return Linearizer.decide(calls, new StockModel(steps, capacity, !pool.isEmpty()), maxSteps);
  }

  private void add(Op op, String hold, List<Step> steps, List<Call> calls) {
    Step step = op.refused() ? refusal(op, hold) : effect(op, hold);
    if (step != null) {
      calls.add(new Call(steps.size(), op.start(), op.end(), !op.unknown()));
      steps.add(step);
    }
  }

  private @Nullable Step refusal(Op op, String hold) {
    Fields why = op.result();
    switch (why.text("why")) {
      case "SoldOut" -> {
        for (String shortage : why.parts("shortages", ",")) {
          String[] parts = shortage.split(":", -1);
          if (parts[0].equals(pool)) {
            return step(Kind.REFUSED, hold, "", Long.parseLong(parts[2]));
          }
        }
        return null;
      }
      case "LimitReached" -> {
        return pool.isEmpty() ? step(Kind.REFUSED, hold, "", capacity - why.number("used")) : null;
      }
      case "HoldEnded" -> {
        return step(Kind.HAD_ENDED, hold, why.text("state"), 0);
      }
      case "UnknownHold" -> {
        return step(Kind.HAD_ENDED, hold, "NONE", 0);
      }
      default -> {
        return null;
      }
    }
  }

  private static Step step(Kind kind, String hold, String state, long free) {
    return new Step(kind, hold, 0, -1, true, true, state, free);
  }

  private @Nullable Step effect(Op op, String hold) {
    Fields seen = op.ok() ? op.result() : op.args();
    boolean fresh = freshly(op);
    String last = finals.getOrDefault(hold, Fields.NONE).text("state", "");
    if (op.unknown() && last.equals("NONE")) {
      return null;
    }
    long expiry = op.ok() ? expiry(seen) : -1;
    if (op.unknown() && acquires(op)) {
      expiry = first(hold, op).orElse(-1L);
    }
    Kind kind =
        switch (op.kind()) {
          case "hold.acquire", "sale.sell", "sale.inOne" -> Kind.ACQUIRE;
          case "hold.change" -> Kind.CHANGE;
          case "hold.extend" -> Kind.EXTEND;
          case "hold.confirm" -> Kind.CONFIRM;
          case "hold.release" -> Kind.RELEASE;
          case "hold.return" -> Kind.RETURN;
          default -> Kind.FINAL;
        };
    String state = kind == Kind.FINAL ? seen.text("state") : "";
    return new Step(kind, hold, quantity(seen), expiry, fresh, op.ok(), state, 0);
  }
}
