package dev.lockstep.hold;

import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Change;
import dev.lockstep.hold.HoldCommand.Confirm;
import dev.lockstep.hold.HoldCommand.Extend;
import dev.lockstep.hold.HoldCommand.Release;
import dev.lockstep.hold.HoldCommand.Return;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Tuple;

/**
 * A generated scope and what is asked of it.
 *
 * @param kinds what the pools are, pool 1 first
 */
record History(OptionalInt limit, List<Kind> kinds, List<Integer> totals, List<Step> steps) {

  /** How units of a pool are asked for. */
  enum Kind {
    COUNTED,
    /** Units, always whichever comes next. */
    SHUFFLED,
    /** Units, always by name. */
    SEATS,
    /** Units, either way. */
    MIXED
  }

  /** A batch, so many seconds after the one before it; a pool may be paused before. */
  record Step(int secondsLater, int toggledPool, List<HoldCommand<?>> commands) {}

  /** Operators extend as far as the configuration allows. */
  private static final ExtensionBound BUYERS_BOUND =
      new ExtensionBound(1, Duration.ofSeconds(15), Duration.ofSeconds(17));

  private static final int HOLDS = 5;
  private static final int BUYERS = 3;

  static HoldId hold(int index) {
    return new HoldId(new UUID(7, index));
  }

  MemoryScope scope() {
    MemoryScope scope = new MemoryScope(limit);
    for (int i = 0; i < kinds.size(); i++) {
      scope.create(new PoolId(i + 1), totals.get(i), kinds.get(i) != Kind.COUNTED);
    }
    return scope;
  }

  static Arbitrary<History> histories(Kind... kinds) {
    Arbitrary<OptionalInt> limits =
        Arbitraries.integers()
            .between(0, 9)
            .map(limit -> limit == 0 ? OptionalInt.empty() : OptionalInt.of(limit));
    Arbitrary<List<Kind>> pools = Arbitraries.of(kinds).list().ofMinSize(1).ofMaxSize(3);
    return Combinators.combine(limits, pools)
        .flatAs(
            (limit, of) ->
                Combinators.combine(
                        Arbitraries.integers().between(0, 8).list().ofSize(of.size()),
                        steps(of).list().ofMinSize(1).ofMaxSize(12))
                    .as((totals, steps) -> new History(limit, of, totals, steps)));
  }

  private static Arbitrary<Step> steps(List<Kind> kinds) {
    return Combinators.combine(
            Arbitraries.integers().between(0, 6),
            Arbitraries.integers().between(-30, kinds.size()),
            commands(kinds).list().ofMinSize(1).ofMaxSize(8))
        .as(Step::new);
  }

  private static Arbitrary<HoldCommand<?>> commands(List<Kind> kinds) {
    return Combinators.combine(
            Arbitraries.of(0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 4, 4, 5, 5),
            Arbitraries.integers().between(1, HOLDS),
            Arbitraries.integers().between(1, BUYERS),
            lines(kinds).list().ofMinSize(1).ofMaxSize(3),
            Arbitraries.integers().between(1, 20),
            Arbitraries.of(true, true, true, false))
        .as(History::command);
  }

  private static HoldCommand<?> command(
      int kind, int hold, int buyer, List<Line> generated, int seconds, boolean operator) {
    List<Line> lines = addable(generated);
    HoldId id = hold(hold);
    BuyerId who = new BuyerId("buyer-" + buyer);
    Actor actor = operator ? Actor.operator("clerk") : Actor.buyer(who);
    Duration holdFor = Duration.ofSeconds(seconds);
    return switch (kind) {
      case 0 -> new Acquire(MemoryScope.SCOPE, id, who, lines, holdFor, actor);
      case 1 -> new Change(MemoryScope.SCOPE, id, lines, actor);
      case 2 ->
          new Extend(
              MemoryScope.SCOPE, id, holdFor, actor, actor.onlyBuyer().map(buyers -> BUYERS_BOUND));
      case 3 -> new Release(MemoryScope.SCOPE, id, actor);
      case 5 -> new Return(MemoryScope.SCOPE, id, actor, seconds % 3 == 0 ? List.of() : lines);
      default ->
          new Confirm(
              MemoryScope.SCOPE,
              id,
              actor,
              seconds % 2 == 0
                  ? List.of()
                  : lines.stream().map(line -> Line.of(line.pool(), line.quantity())).toList());
    };
  }

  /** Without those that cannot be summed with an earlier line of their pool. */
  private static List<Line> addable(List<Line> lines) {
    List<Line> kept = new ArrayList<>();
    for (Line line : lines) {
      boolean clashes =
          kept.stream()
              .filter(other -> other.pool().equals(line.pool()))
              .anyMatch(other -> !other.units().isEmpty() || !line.units().isEmpty());
      if (!clashes) {
        kept.add(line);
      }
    }
    return kept;
  }

  /** Sometimes of a pool that is not there. */
  private static Arbitrary<Line> lines(List<Kind> kinds) {
    return Combinators.combine(
            Arbitraries.frequencyOf(
                Tuple.of(20, Arbitraries.integers().between(1, kinds.size())),
                Tuple.of(1, Arbitraries.just(9))),
            Arbitraries.integers().between(1, 3),
            Arbitraries.integers().between(0, 5),
            Arbitraries.of(true, false))
        .as((pool, quantity, from, byName) -> line(kinds, pool, quantity, from, byName));
  }

  private static Line line(List<Kind> kinds, int pool, int quantity, int from, boolean byName) {
    Kind kind = pool > kinds.size() ? Kind.COUNTED : kinds.get(pool - 1);
    boolean named = kind == Kind.SEATS || (kind == Kind.MIXED && byName);
    PoolId id = new PoolId(pool);
    return named
        ? Line.units(id, IntStream.range(from, from + quantity).boxed().toList())
        : Line.of(id, quantity);
  }
}
