package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.combine.CommandDecision;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldCommand.Change;
import dev.lockstep.hold.Plan.HoldChange;
import dev.lockstep.hold.Plan.PoolChange;
import dev.lockstep.hold.Plan.UnitChange;
import dev.lockstep.hold.ScopeState.PoolRow;
import dev.lockstep.hold.ScopeState.StoredHold;
import dev.lockstep.hold.ScopeState.UnitRow;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The tables of one scope, in memory: read as {@link StateReader} reads them and written, with its
 * guards, as {@link PlanWriter} writes them.
 */
final class MemoryScope {
  static final ScopeId SCOPE = new ScopeId(1);
  static final Duration MAX_LIFETIME = Duration.ofSeconds(20);

  final OptionalInt limit;
  final Map<HoldId, StoredHold> holds = new TreeMap<>();
  final Map<PoolId, PoolRow> pools = new TreeMap<>();
  final Map<PoolId, Map<Integer, UnitRow>> units = new TreeMap<>();
  private final Map<BuyerId, Integer> used = new HashMap<>();
  final List<StockChange> audit = new ArrayList<>();

  MemoryScope(OptionalInt limit) {
    this.limit = limit;
  }

  void create(PoolId id, int total, boolean hasUnits) {
    pools.put(id, new PoolRow(new PoolCounts(id, total, 0, 0), hasUnits, null, 0, 0));
    Map<Integer, UnitRow> rows = new TreeMap<>();
    for (int rank = 0; hasUnits && rank < total; rank++) {
      // Any order but the natural one will do: the last unit is given out first.
      int unit = total - 1 - rank;
      rows.put(unit, new UnitRow(unit, rank, false, null));
    }
    units.put(id, rows);
  }

  void pause(PoolId id, @Nullable String reason) {
    PoolRow row = pool(id);
    pools.put(
        id, new PoolRow(row.counts(), row.hasUnits(), reason, row.nextRank(), row.auditSeq()));
  }

  /** What buyers have used, of those who have used any. */
  Map<BuyerId, Integer> used() {
    Map<BuyerId, Integer> some = new HashMap<>(used);
    some.values().removeIf(count -> count == 0);
    return some;
  }

  /** Decides a batch, and again what must be decided again, as {@link Holds} does. */
  List<HoldOutcome> decide(Instant now, List<HoldCommand<?>> commands, int sweepBatch) {
    Map<Integer, HoldOutcome> outcomes = new TreeMap<>();
    List<Integer> open = new ArrayList<>();
    for (int i = 0; i < commands.size(); i++) {
      open.add(i);
    }
    while (!open.isEmpty()) {
      List<HoldCommand<?>> batch = open.stream().<HoldCommand<?>>map(commands::get).toList();
      Plan plan =
          Decision.decide(read(now, batch, sweepBatch), batch, new BitSet(), MAX_LIFETIME, false);
      write(plan);
      List<Integer> again = new ArrayList<>();
      for (int i = 0; i < open.size(); i++) {
        CommandDecision<HoldOutcome> answer = plan.decisions().get(i);
        if (answer.provisional()) {
          again.add(open.get(i));
        } else {
          outcomes.put(open.get(i), answer.outcome());
        }
      }
      open = again;
    }
    return List.copyOf(outcomes.values());
  }

  ScopeState read(Instant now, List<HoldCommand<?>> commands, int sweepBatch) {
    Map<HoldId, StoredHold> found = new HashMap<>();
    Set<BuyerId> buyers = new HashSet<>();
    Map<PoolId, Integer> wanted = new TreeMap<>();
    Map<PoolId, Map<Integer, UnitRow>> named = new HashMap<>();
    for (HoldCommand<?> command : commands) {
      StoredHold hold = holds.get(command.hold());
      if (hold != null) {
        found.put(command.hold(), hold);
      }
      if (command instanceof Acquire acquire) {
        buyers.add(acquire.buyer());
      }
      for (Line line : linesOf(command)) {
        wanted.merge(line.pool(), line.quantity(), Integer::sum);
        line.units().forEach(unit -> name(line.pool(), unit, named));
      }
    }
    List<StoredHold> due = due(now);
    List<StoredHold> taken = due.subList(0, Math.min(sweepBatch, due.size()));
    taken.forEach(hold -> found.put(hold.hold().id(), hold));
    found.values().forEach(hold -> buyers.add(hold.hold().buyer()));
    return new ScopeState(
        now,
        limit,
        found,
        taken.stream().map(hold -> hold.hold().id()).toList(),
        taken.size() < due.size(),
        only(used, buyers),
        only(pools, poolsOf(wanted.keySet(), found.values())),
        offers(wanted),
        named);
  }

  private static List<Line> linesOf(HoldCommand<?> command) {
    if (command instanceof Acquire acquire) {
      return acquire.lines();
    }
    return command instanceof Change change ? change.lines() : List.of();
  }

  private void name(PoolId pool, int unit, Map<PoolId, Map<Integer, UnitRow>> named) {
    UnitRow row = units.getOrDefault(pool, Map.of()).get(unit);
    if (row != null) {
      named.computeIfAbsent(pool, p -> new HashMap<>()).put(unit, row);
    }
  }

  private List<StoredHold> due(Instant now) {
    return holds.values().stream()
        .filter(stored -> stored.hold().state() == HoldState.HELD)
        .filter(stored -> !stored.hold().expiresAt().isAfter(now))
        .sorted(Comparator.comparing(stored -> stored.hold().expiresAt()))
        .toList();
  }

  private static Set<PoolId> poolsOf(Collection<PoolId> wanted, Collection<StoredHold> found) {
    Set<PoolId> all = new HashSet<>(wanted);
    found.forEach(stored -> stored.hold().lines().forEach(line -> all.add(line.pool())));
    return all;
  }

  private Map<PoolId, List<UnitRow>> offers(Map<PoolId, Integer> wanted) {
    Map<PoolId, List<UnitRow>> offers = new HashMap<>();
    wanted.forEach(
        (id, quantity) -> {
          PoolRow pool = pools.get(id);
          if (pool != null && pool.hasUnits()) {
            offers.put(id, offer(pool, quantity));
          }
        });
    return offers;
  }

  private List<UnitRow> offer(PoolRow pool, int quantity) {
    List<UnitRow> byRank = new ArrayList<>(unitsOf(pool.counts().pool()).values());
    byRank.sort(Comparator.comparing(UnitRow::rank));
    List<UnitRow> offer = new ArrayList<>();
    byRank.stream()
        .filter(unit -> unit.rank() >= pool.nextRank() && unit.hold() == null && !unit.returned())
        .forEach(offer::add);
    byRank.stream().filter(UnitRow::returned).forEach(offer::add);
    return List.copyOf(offer.subList(0, Math.min(quantity, offer.size())));
  }

  void write(Plan plan) {
    for (StoredHold fresh : plan.newHolds()) {
      assertThat(holds.put(fresh.hold().id(), fresh)).as("a hold of this id").isNull();
    }
    for (HoldChange change : plan.changedHolds()) {
      Hold changed = change.after();
      StoredHold before = Objects.requireNonNull(holds.get(changed.id()));
      assertThat(before.hold().state()).as("as seen").isEqualTo(change.before());
      assertThat(change.before() == HoldState.HELD || changed.state().wasSold())
          .as("only a live hold changes, unless it comes back")
          .isTrue();
      holds.put(changed.id(), new StoredHold(changed, before.fingerprint()));
    }
    plan.units().forEach(this::write);
    plan.quotaDeltas().forEach(this::write);
    audit.addAll(plan.audit());
    for (PoolChange change : plan.pools()) {
      PoolRow row = pool(change.counts().pool());
      assertThat(change.seqBefore()).isEqualTo(row.auditSeq());
      pools.put(change.counts().pool(), row.after(change));
    }
  }

  private void write(UnitChange change) {
    Map<Integer, UnitRow> rows = unitsOf(change.pool());
    UnitRow row = Objects.requireNonNull(rows.get(change.unit()));
    assertThat(row.hold()).isEqualTo(change.before() == null ? null : change.before().value());
    if (change.rank() != null) {
      assertThat(change.rank()).as("the rank it is found by").isEqualTo(row.rank());
    }
    HoldId after = change.after();
    rows.put(
        row.unit(),
        new UnitRow(row.unit(), row.rank(), after == null, after == null ? null : after.value()));
  }

  private void write(BuyerId buyer, int delta) {
    assertThat(limit).as("use is counted only where there is a limit").isPresent();
    int now = used.merge(buyer, delta, Integer::sum);
    assertThat(now).isBetween(0, limit.getAsInt());
  }

  private PoolRow pool(PoolId id) {
    return Objects.requireNonNull(pools.get(id));
  }

  private Map<Integer, UnitRow> unitsOf(PoolId id) {
    return Objects.requireNonNull(units.get(id));
  }

  private static <K, V> Map<K, V> only(Map<K, V> all, Set<K> keys) {
    Map<K, V> some = new HashMap<>(all);
    some.keySet().retainAll(keys);
    return some;
  }
}
