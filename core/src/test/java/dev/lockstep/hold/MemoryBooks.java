package dev.lockstep.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.hold.ScopeState.PoolRow;
import dev.lockstep.hold.ScopeState.StoredHold;
import dev.lockstep.hold.ScopeState.UnitRow;
import dev.lockstep.hold.StockChange.Cause;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** What {@link Books} asks of the database, asked of a scope in memory. */
final class MemoryBooks {
  private final MemoryScope scope;

  MemoryBooks(MemoryScope scope) {
    this.scope = scope;
  }

  void check() {
    scope.pools.forEach(this::checkPool);
    checkQuotas();
    checkEnds();
  }

  private void checkPool(PoolId id, PoolRow row) {
    PoolCounts counts = row.counts();
    assertThat(counts.held()).isNotNegative();
    assertThat(counts.sold()).isNotNegative();
    assertThat(counts.free()).as("never oversold").isNotNegative();
    assertThat(counts.held()).as("held lines").isEqualTo(quantity(id, HoldState.HELD));
    assertThat(counts.sold()).as("sold lines").isEqualTo(quantity(id, HoldState.SOLD));
    checkChain(id, row);
    if (row.hasUnits()) {
      checkUnits(id, row);
    }
  }

  private int quantity(PoolId pool, HoldState state) {
    return scope.holds.values().stream()
        .filter(stored -> stored.hold().state() == state)
        .flatMap(stored -> stored.hold().lines().stream())
        .filter(line -> line.pool().equals(pool))
        .mapToInt(HeldLine::quantity)
        .sum();
  }

  private void checkChain(PoolId id, PoolRow row) {
    PoolCounts last = new PoolCounts(id, row.counts().total(), 0, 0);
    long seq = 0;
    for (StockChange change : scope.audit) {
      if (change.pool().equals(id)) {
        assertThat(change.seq()).as("no gap").isEqualTo(++seq);
        assertThat(change.before()).as("linked").isEqualTo(last);
        assertThat(change.after().free()).isNotNegative();
        last = change.after();
      }
    }
    assertThat(row.auditSeq()).isEqualTo(seq);
    assertThat(row.counts()).isEqualTo(last);
  }

  private void checkUnits(PoolId id, PoolRow row) {
    Map<Integer, UUID> owners = new HashMap<>();
    for (StoredHold stored : scope.holds.values()) {
      for (HeldLine line : stored.hold().lines()) {
        if (line.pool().equals(id)) {
          assertThat(line.units()).hasSize(line.quantity()).doesNotHaveDuplicates();
          if (stored.hold().state().live()) {
            line.units()
                .forEach(
                    unit ->
                        assertThat(owners.put(unit, stored.hold().id().value()))
                            .as("another owner of unit %d", unit)
                            .isNull());
          }
        }
      }
    }
    for (UnitRow unit : scope.units.getOrDefault(id, Map.of()).values()) {
      assertThat(unit.hold()).isEqualTo(owners.get(unit.unit()));
      if (unit.rank() < row.nextRank()) {
        assertThat(unit.hold() != null || unit.returned()).as("taken at least once").isTrue();
      }
    }
  }

  private void checkQuotas() {
    Map<BuyerId, Integer> has = new HashMap<>();
    for (StoredHold stored : scope.holds.values()) {
      if (stored.hold().state().live() && scope.limit.isPresent()) {
        has.merge(stored.hold().buyer(), stored.hold().quantity(), Integer::sum);
      }
    }
    assertThat(scope.used()).isEqualTo(has);
    scope.limit.ifPresent(limit -> assertThat(has.values()).allMatch(count -> count <= limit));
  }

  private void checkEnds() {
    Map<HoldId, Set<Cause>> ends = new HashMap<>();
    Set<List<Object>> rows = new HashSet<>();
    Map<List<Object>, Integer> sold = new HashMap<>();
    for (StockChange change : scope.audit) {
      if (change.cause() != Cause.ACQUIRED && change.cause() != Cause.CHANGED) {
        ends.computeIfAbsent(change.hold(), hold -> new HashSet<>()).add(change.cause());
        List<Object> line = List.of(change.hold(), change.pool());
        // A sold hold may come back in parts.
        assertThat(change.cause() == Cause.RETURNED || rows.add(line)).as("ends once").isTrue();
        sold.merge(line, change.after().sold() - change.before().sold(), Integer::sum);
      }
    }
    for (StoredHold stored : scope.holds.values()) {
      Hold hold = stored.hold();
      for (HeldLine line : hold.lines()) {
        assertThat(sold.getOrDefault(List.of(hold.id(), line.pool()), 0))
            .as("what is left of a sale")
            .isEqualTo(hold.state() == HoldState.SOLD ? line.quantity() : 0);
      }
      assertThat(hold.end().isPresent()).isEqualTo(hold.state() != HoldState.HELD);
      Set<Cause> causes = ends.getOrDefault(hold.id(), Set.of());
      if (hold.state() == HoldState.SOLD) {
        assertThat(causes).contains(Cause.SOLD).isSubsetOf(Cause.SOLD, Cause.RETURNED);
      } else {
        assertThat(causes)
            .isEqualTo(
                switch (hold.state()) {
                  case HELD, SOLD -> Set.of();
                  case RELEASED -> Set.of(Cause.RELEASED);
                  case EXPIRED -> Set.of(Cause.EXPIRED);
                  case RETURNED -> Set.of(Cause.SOLD, Cause.RETURNED);
                });
      }
    }
  }
}
