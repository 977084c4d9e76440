package dev.lockstep.prove.node;

import dev.lockstep.fault.ConstraintViolated;
import dev.lockstep.hold.Actor;
import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.Hold;
import dev.lockstep.hold.HoldCommand;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Change;
import dev.lockstep.hold.HoldCommand.Confirm;
import dev.lockstep.hold.HoldCommand.Extend;
import dev.lockstep.hold.HoldCommand.Release;
import dev.lockstep.hold.HoldCommand.Return;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.HoldRecords;
import dev.lockstep.hold.Holds;
import dev.lockstep.hold.Line;
import dev.lockstep.hold.NewPool;
import dev.lockstep.hold.Pool;
import dev.lockstep.hold.PoolId;
import dev.lockstep.hold.ScopeId;
import dev.lockstep.hold.UnitShuffle;
import dev.lockstep.prove.history.Fields;
import dev.lockstep.prove.history.Status;
import dev.lockstep.tx.Transactor;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * Holds. Lines travel as {@code pool:quantity} and come back as {@code pool:quantity:unit.unit},
 * joined by commas.
 */
final class HoldVerbs {
  private static final Actor OPERATOR = Actor.operator("prove");

  private final Transactor transactor;
  private final Holds holds;

  HoldVerbs(Transactor transactor, Holds holds) {
    this.transactor = transactor;
    this.holds = holds;
  }

  Map<String, Verb> verbs() {
    Map<String, Verb> verbs = new HashMap<>();
    verbs.put("hold.open", this::open);
    verbs.put("hold.acquire", f -> answer(holds.call(acquire(f))));
    verbs.put("hold.change", f -> call(new Change(scope(f), hold(f), lines(f), OPERATOR)));
    verbs.put(
        "hold.extend",
        f -> call(new Extend(scope(f), hold(f), Duration.ofMillis(f.number("for")), OPERATOR)));
    verbs.put("hold.confirm", f -> call(new Confirm(scope(f), hold(f), OPERATOR)));
    verbs.put("hold.release", f -> call(new Release(scope(f), hold(f), OPERATOR)));
    verbs.put("hold.return", f -> call(new Return(scope(f), hold(f), OPERATOR)));
    verbs.put("final.holds", this::find);
    verbs.put("final.pools", this::pools);
    return verbs;
  }

  static Acquire acquire(Fields f) {
    return Acquire.of(
        scope(f),
        hold(f),
        new BuyerId(f.text("buyer")),
        lines(f),
        Duration.ofMillis(f.number("for")));
  }

  static ScopeId scope(Fields f) {
    return new ScopeId(f.number("scope"));
  }

  private static HoldId hold(Fields f) {
    return HoldId.of(f.text("hold"));
  }

  private static List<Line> lines(Fields f) {
    List<Line> lines = new ArrayList<>();
    for (String line : f.parts("lines", ",")) {
      String[] parts = line.split(":", -1);
      lines.add(Line.of(new PoolId(Long.parseLong(parts[0])), Integer.parseInt(parts[1])));
    }
    return lines;
  }

  /** Counted pools under odd numbers, pools of units under even ones. */
  private Answer open(Fields f) {
    long limit = f.number("limit", 0);
    ScopeId scope = scope(f);
    try {
      holds.createScope(scope, limit == 0 ? OptionalInt.empty() : OptionalInt.of((int) limit));
    } catch (ConstraintViolated e) {
      // An earlier attempt made it, but perhaps not its pools.
    }
    List<NewPool> pools = new ArrayList<>();
    for (String line : f.parts("pools", ",")) {
      String[] parts = line.split(":", -1);
      PoolId id = new PoolId(Long.parseLong(parts[0]));
      int total = Integer.parseInt(parts[1]);
      UnitShuffle shuffle = UnitShuffle.seeded("00112233445566778899aabbccddeeff");
      pools.add(
          id.value() % 2 == 0 ? NewPool.ofUnits(id, total, shuffle) : NewPool.counted(id, total));
    }
    holds.createPools(scope, pools);
    return Answer.ok();
  }

  private <R extends HoldOutcome> Answer call(HoldCommand<R> command) {
    return answer(holds.call(command));
  }

  static Answer answer(HoldOutcome outcome) {
    if (outcome instanceof HoldOutcome.Granted granted) {
      return new Answer(Status.OK, fields(granted.hold()).with("replayed", granted.replayed()));
    }
    if (outcome instanceof HoldOutcome.Ended ended) {
      return new Answer(Status.OK, fields(ended.hold()).with("replayed", ended.replayed()));
    }
    if (outcome instanceof HoldOutcome.SoldOut soldOut) {
      List<String> shortages = new ArrayList<>();
      soldOut
          .shortages()
          .forEach(s -> shortages.add(s.pool().value() + ":" + s.asked() + ":" + s.free()));
      return Answer.refused("SoldOut", "shortages", String.join(",", shortages));
    }
    if (outcome instanceof HoldOutcome.LimitReached limit) {
      return Answer.refused(
          "LimitReached", "limit", limit.limit(), "used", limit.used(), "asked", limit.asked());
    }
    if (outcome instanceof HoldOutcome.HoldEnded ended) {
      return Answer.refused("HoldEnded", "state", ended.hold().state());
    }
    if (outcome instanceof HoldOutcome.HoldsOverloaded) {
      return Answer.failed("Overloaded");
    }
    return Answer.refused(outcome.getClass().getSimpleName());
  }

  private static Fields fields(Hold hold) {
    List<String> lines = new ArrayList<>();
    hold.lines()
        .forEach(
            line ->
                lines.add(
                    line.pool().value()
                        + ":"
                        + line.quantity()
                        + ":"
                        + String.join(".", line.units().stream().map(String::valueOf).toList())));
    return Fields.of(
        "state", hold.state(),
        "buyer", hold.buyer().value(),
        "lines", String.join(",", lines),
        "created", micros(hold.createdAt()),
        "expires", micros(hold.expiresAt()));
  }

  /** Several holds, each as one line, in the order asked for. */
  private Answer find(Fields f) {
    ScopeId scope = scope(f);
    List<HoldId> wanted = f.parts("holds", ",").stream().map(HoldId::of).toList();
    Map<HoldId, Hold> found = new HashMap<>();
    transactor
        .call(connection -> HoldRecords.find(connection, Map.of(scope, wanted)))
        .forEach(hold -> found.put(hold.id(), hold));
    List<String> lines = new ArrayList<>();
    for (HoldId id : wanted) {
      Hold hold = found.get(id);
      lines.add((hold == null ? Fields.of("state", "NONE") : fields(hold)).line());
    }
    return Answer.ok("found", String.join(";", lines));
  }

  private Answer pools(Fields f) {
    List<String> all = new ArrayList<>();
    for (Pool pool : holds.pools(scope(f))) {
      all.add(
          "%d:%d:%d:%d"
              .formatted(
                  pool.id().value(),
                  pool.counts().total(),
                  pool.counts().held(),
                  pool.counts().sold()));
    }
    return Answer.ok("pools", String.join(",", all));
  }

  static long micros(Instant time) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, time);
  }
}
