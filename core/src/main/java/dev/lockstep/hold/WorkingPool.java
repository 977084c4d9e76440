package dev.lockstep.hold;

import dev.lockstep.hold.Plan.PoolChange;
import dev.lockstep.hold.Plan.UnitChange;
import dev.lockstep.hold.ScopeState.PoolRow;
import dev.lockstep.hold.ScopeState.UnitRow;
import dev.lockstep.hold.StockChange.Cause;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A pool while a batch is decided: counters, units and audit sequence. */
final class WorkingPool {
  private final PoolRow row;
  private final ArrayDeque<UnitRow> offered;
  private final List<UnitRow> fresh;
  private final Map<Integer, UnitRow> named;
  // Units given back in this batch; given out only when the shuffle has no more.
  private final ArrayDeque<Integer> freed = new ArrayDeque<>();
  private final Map<Integer, Owners> touched = new LinkedHashMap<>();
  private PoolCounts counts;
  private long seq;

  private record Owners(@Nullable Integer rank, @Nullable HoldId before, @Nullable HoldId after) {}

  WorkingPool(PoolRow row, List<UnitRow> offered, Map<Integer, UnitRow> named) {
    this.row = row;
    this.offered = new ArrayDeque<>(offered);
    this.fresh =
        offered.isEmpty() ? List.of() : offered.stream().filter(unit -> !unit.returned()).toList();
    this.named = named;
    this.counts = row.counts();
    this.seq = row.auditSeq();
  }

  PoolCounts counts() {
    return counts;
  }

  Optional<String> pauseReason() {
    return Optional.ofNullable(row.pauseReason());
  }

  boolean knows(int unit) {
    return named.containsKey(unit);
  }

  boolean isFree(int unit) {
    return ownerOf(unit) == null;
  }

  /** Takes units for a hold in shuffle order; returns none for a counted pool. */
  List<Integer> take(int quantity, HoldId hold) {
    if (!row.hasUnits()) {
      return List.of();
    }
    List<Integer> taken = new ArrayList<>(quantity);
    while (taken.size() < quantity) {
      UnitRow offer = nextOffered();
      int unit = offer == null ? nextFreed() : offer.unit();
      own(unit, offer, null, hold);
      taken.add(unit);
    }
    return taken;
  }

  void takeNamed(List<Integer> units, HoldId hold) {
    units.forEach(unit -> own(unit, named.get(unit), null, hold));
  }

  void giveBack(List<Integer> units, HoldId hold) {
    for (int unit : units) {
      own(unit, null, hold, null);
      freed.add(unit);
    }
  }

  StockChange move(int heldBy, int soldBy, Cause cause, HoldId hold, String actor, Instant now) {
    PoolCounts before = counts;
    counts =
        new PoolCounts(
            before.pool(), before.total(), before.held() + heldBy, before.sold() + soldBy);
    return new StockChange(before.pool(), ++seq, hold, cause, actor, before, counts, now);
  }

  /** Empty if nothing changed. */
  Optional<PoolChange> change() {
    return seq == row.auditSeq()
        ? Optional.empty()
        : Optional.of(
            new PoolChange(counts, row.pauseReason() != null, nextRank(), row.auditSeq(), seq));
  }

  List<UnitChange> unitChanges() {
    List<UnitChange> changes = new ArrayList<>();
    touched.forEach(
        (unit, owners) -> {
          if (!Objects.equals(owners.before, owners.after)) {
            changes.add(
                new UnitChange(counts.pool(), unit, owners.rank, owners.before, owners.after));
          }
        });
    return changes;
  }

  private @Nullable UnitRow nextOffered() {
    while (!offered.isEmpty()) {
      UnitRow offer = offered.remove();
      // An earlier command of the batch may have taken it by name.
      if (!touched.containsKey(offer.unit())) {
        return offer;
      }
    }
    return null;
  }

  private int nextFreed() {
    while (!freed.isEmpty()) {
      int unit = freed.remove();
      if (isFree(unit)) {
        return unit;
      }
    }
    // Counters and units disagree. Fail rather than guess; the invariant check will name the pool.
    throw new IllegalStateException(
        "Pool %d counts %d free, but has no free unit left; run the audit on its scope"
            .formatted(counts.pool().value(), counts.free()));
  }

  private @Nullable HoldId ownerOf(int unit) {
    Owners owners = touched.get(unit);
    if (owners != null) {
      return owners.after;
    }
    UnitRow stored = named.get(unit);
    return stored == null || stored.hold() == null ? null : new HoldId(stored.hold());
  }

  private void own(int unit, @Nullable UnitRow read, @Nullable HoldId from, @Nullable HoldId to) {
    Owners known = touched.get(unit);
    touched.put(
        unit,
        known == null
            ? new Owners(read == null ? null : read.rank(), from, to)
            : new Owners(known.rank, known.before, to));
  }

  /** The rank of the first unit that was never taken, after this batch. */
  private int nextRank() {
    int next = row.nextRank();
    for (UnitRow unit : fresh) {
      Owners owners = touched.get(unit.unit());
      if (owners == null || owners.after == null) {
        return unit.rank();
      }
      next = unit.rank() + 1;
    }
    return next;
  }
}
