package dev.lockstep.hold;

import dev.lockstep.hold.HoldOutcome.LimitReached;
import dev.lockstep.hold.HoldOutcome.Paused;
import dev.lockstep.hold.HoldOutcome.Shortage;
import dev.lockstep.hold.HoldOutcome.SoldOut;
import dev.lockstep.hold.HoldOutcome.UnknownPool;
import dev.lockstep.hold.HoldOutcome.UnknownUnit;
import dev.lockstep.hold.Plan.PoolChange;
import dev.lockstep.hold.Plan.UnitChange;
import dev.lockstep.hold.ScopeState.StoredHold;
import dev.lockstep.hold.StockChange.Cause;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The stock of a scope while a batch is decided: pools, holds, quotas and the audit trail. */
final class Stock {
  private final ScopeState state;
  private final Map<PoolId, WorkingPool> pools = new TreeMap<>();
  private final Map<HoldId, StoredHold> holds;
  private final Map<BuyerId, Integer> quotaDeltas = new LinkedHashMap<>();
  private final List<StockChange> audit = new ArrayList<>();

  Stock(ScopeState state) {
    this.state = state;
    this.holds = new HashMap<>(state.holds());
    state
        .pools()
        .forEach(
            (id, row) ->
                pools.put(
                    id,
                    new WorkingPool(
                        row,
                        state.units().getOrDefault(id, List.of()),
                        state.named().getOrDefault(id, Map.of()))));
  }

  Optional<StoredHold> find(HoldId id) {
    return Optional.ofNullable(holds.get(id));
  }

  /** Returns a hold that is known to exist. */
  StoredHold stored(HoldId id) {
    return find(id).orElseThrow();
  }

  void put(StoredHold hold) {
    holds.put(hold.hold().id(), hold);
  }

  /**
   * Returns why a buyer cannot exchange the lines they have for the wanted ones, in the documented
   * precedence; null if they can.
   */
  @Nullable AcquireResult refusalOf(BuyerId buyer, List<HeldLine> has, List<Line> wants) {
    AcquireResult refusal = firstUnknown(wants);
    if (refusal == null) {
      refusal = firstPaused(has, wants);
    }
    if (refusal == null) {
      refusal = limitReached(buyer, has, wants);
    }
    return refusal == null ? soldOut(has, wants) : refusal;
  }

  /** Moves units so that the hold has the wanted lines. Call it only if nothing refuses them. */
  List<HeldLine> replace(HoldId hold, List<HeldLine> has, List<Line> wants) {
    // Give everything back first, so that a cart can swap units with itself.
    for (HeldLine line : has) {
      Line wanted = lineOf(wants, line.pool());
      // Sets, here and below: a line may have thousands of units.
      Set<Integer> keeps = new HashSet<>(kept(line, wanted));
      pool(line.pool())
          .giveBack(line.units().stream().filter(u -> !keeps.contains(u)).toList(), hold);
    }
    List<HeldLine> result = new ArrayList<>(wants.size());
    for (Line wanted : wants) {
      WorkingPool pool = pool(wanted.pool());
      List<Integer> units = new ArrayList<>(kept(heldOf(has, wanted.pool()), wanted));
      if (wanted.units().isEmpty()) {
        units.addAll(pool.take(wanted.quantity() - units.size(), hold));
      } else {
        Set<Integer> own = new HashSet<>(units);
        List<Integer> missing = wanted.units().stream().filter(u -> !own.contains(u)).toList();
        pool.takeNamed(missing, hold);
        units.addAll(missing);
      }
      result.add(new HeldLine(wanted.pool(), wanted.quantity(), units));
    }
    return result;
  }

  /** Counts and audits the step from some lines to others. */
  void account(Hold hold, List<HeldLine> from, List<HeldLine> to, Cause cause, String actor) {
    Map<PoolId, Integer> deltas = new TreeMap<>();
    from.forEach(line -> deltas.merge(line.pool(), -line.quantity(), Integer::sum));
    to.forEach(line -> deltas.merge(line.pool(), line.quantity(), Integer::sum));
    int total = 0;
    for (Map.Entry<PoolId, Integer> delta : deltas.entrySet()) {
      total += delta.getValue();
      if (delta.getValue() != 0 || unitsDiffer(delta.getKey(), from, to)) {
        audit.add(
            pool(delta.getKey()).move(delta.getValue(), 0, cause, hold.id(), actor, state.now()));
      }
    }
    use(hold.buyer(), total);
  }

  void sell(Hold hold, String actor) {
    for (HeldLine line : hold.lines()) {
      audit.add(
          pool(line.pool())
              .move(-line.quantity(), line.quantity(), Cause.SOLD, hold.id(), actor, state.now()));
    }
  }

  void giveBack(Hold hold, Cause cause, String actor) {
    for (HeldLine line : hold.lines()) {
      pool(line.pool()).giveBack(line.units(), hold.id());
    }
    account(hold, hold.lines(), List.of(), cause, actor);
  }

  /** Takes these lines of a sold hold back. */
  void takeBack(Hold hold, List<HeldLine> lines, String actor) {
    for (HeldLine line : lines) {
      WorkingPool pool = pool(line.pool());
      pool.giveBack(line.units(), hold.id());
      audit.add(pool.move(0, -line.quantity(), Cause.RETURNED, hold.id(), actor, state.now()));
    }
    use(hold.buyer(), -lines.stream().mapToInt(HeldLine::quantity).sum());
  }

  List<PoolCounts> countsOf(Hold hold) {
    return hold.lines().stream().map(line -> pool(line.pool()).counts()).toList();
  }

  List<StockChange> audit() {
    return audit;
  }

  List<PoolChange> poolChanges() {
    return pools.values().stream().flatMap(pool -> pool.change().stream()).toList();
  }

  List<UnitChange> unitChanges() {
    return pools.values().stream().flatMap(pool -> pool.unitChanges().stream()).toList();
  }

  Map<BuyerId, Integer> quotaDeltas() {
    quotaDeltas.values().removeIf(delta -> delta == 0);
    return quotaDeltas;
  }

  private @Nullable AcquireResult firstUnknown(List<Line> wants) {
    for (Line line : wants) {
      if (!pools.containsKey(line.pool())) {
        return new UnknownPool(line.pool());
      }
    }
    for (Line line : wants) {
      for (int unit : line.units()) {
        if (!pool(line.pool()).knows(unit)) {
          return new UnknownUnit(line.pool(), unit);
        }
      }
    }
    return null;
  }

  private @Nullable AcquireResult firstPaused(List<HeldLine> has, List<Line> wants) {
    for (Line line : wants) {
      Optional<String> reason = pool(line.pool()).pauseReason();
      if (reason.isPresent() && takes(line, heldOf(has, line.pool()))) {
        return new Paused(line.pool(), reason.get());
      }
    }
    return null;
  }

  private @Nullable AcquireResult limitReached(
      BuyerId buyer, List<HeldLine> has, List<Line> wants) {
    int more = Lines.quantityOf(wants) - has.stream().mapToInt(HeldLine::quantity).sum();
    if (state.buyerLimit().isEmpty() || more <= 0) {
      return null;
    }
    int limit = state.buyerLimit().getAsInt();
    int used = state.used().getOrDefault(buyer, 0) + quotaDeltas.getOrDefault(buyer, 0);
    return used + more > limit ? new LimitReached(limit, used, more) : null;
  }

  private @Nullable AcquireResult soldOut(List<HeldLine> has, List<Line> wants) {
    List<Shortage> shortages = new ArrayList<>();
    for (Line line : wants) {
      WorkingPool pool = pool(line.pool());
      HeldLine held = heldOf(has, line.pool());
      int own = held == null ? 0 : held.quantity();
      int could = pool.counts().free() + own;
      if (!line.units().isEmpty()) {
        Set<Integer> ours = held == null ? Set.of() : new HashSet<>(held.units());
        could = (int) line.units().stream().filter(u -> pool.isFree(u) || ours.contains(u)).count();
      }
      if (line.quantity() > could) {
        shortages.add(new Shortage(line.pool(), line.quantity(), could));
      }
    }
    return shortages.isEmpty() ? null : new SoldOut(shortages);
  }

  private void use(BuyerId buyer, int delta) {
    if (state.buyerLimit().isPresent() && delta != 0) {
      quotaDeltas.merge(buyer, delta, Integer::sum);
    }
  }

  private WorkingPool pool(PoolId id) {
    WorkingPool pool = pools.get(id);
    if (pool == null) {
      throw new IllegalStateException(
          "Pool %d is not among the pools that the batch locked".formatted(id.value()));
    }
    return pool;
  }

  private static boolean takes(Line wanted, @Nullable HeldLine held) {
    return held == null
        || wanted.quantity() > held.quantity()
        || !new HashSet<>(held.units()).containsAll(wanted.units());
  }

  private boolean unitsDiffer(PoolId pool, List<HeldLine> from, List<HeldLine> to) {
    HeldLine before = heldOf(from, pool);
    HeldLine after = heldOf(to, pool);
    return before != null && after != null && !before.units().equals(after.units());
  }

  /** The units that a hold keeps when its line of a pool is replaced. */
  private static List<Integer> kept(@Nullable HeldLine has, @Nullable Line wants) {
    if (has == null || wants == null) {
      return List.of();
    }
    if (!wants.units().isEmpty()) {
      return has.units().stream().filter(new HashSet<>(wants.units())::contains).toList();
    }
    return has.units().subList(0, Math.min(has.units().size(), wants.quantity()));
  }

  // Loops, because these run several times per hold.
  private static @Nullable HeldLine heldOf(List<HeldLine> lines, PoolId pool) {
    for (HeldLine line : lines) {
      if (line.pool().equals(pool)) {
        return line;
      }
    }
    return null;
  }

  private static @Nullable Line lineOf(List<Line> lines, PoolId pool) {
    for (Line line : lines) {
      if (line.pool().equals(pool)) {
        return line;
      }
    }
    return null;
  }
}
