package dev.lockstep.hold;

import dev.lockstep.combine.CacheTrust;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.Plan.PoolChange;
import dev.lockstep.hold.ScopeState.PoolRow;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Remembers what the last batch of a scope left, so that the next need not read it. A batch that
 * takes only from known, open, counted pools with enough stock is written at once.
 *
 * <p>Correctness does not depend on the cache. The writes compare everything a grant rests on with
 * the actual rows ({@link PlanWriter}); if another node was faster, the batch is decided again on
 * locked rows. A refusal never comes from the cache: "sold out" needs the lock. If the cache misses
 * often, it pauses ({@link CacheTrust}).
 *
 * <p>Used by one writer of the scope at a time.
 */
final class ScopeCache {
  /** After this time another node may well have sold. */
  private static final Duration CLOCK_LASTS = Duration.ofSeconds(1);

  private static final int MAX_POOLS = 10_000;

  private final CacheTrust trust = new CacheTrust(CLOCK_LASTS);
  private final Map<PoolId, PoolRow> pools = new HashMap<>();
  private OptionalInt buyerLimit = OptionalInt.empty();
  // False from the start of a batch until its commit is known.
  private boolean certain;

  /** The state to decide these commands on without reading; empty if the batch must read. */
  Optional<ScopeState> recall(List<Acquire> commands, long nanos) {
    Optional<Instant> clock = trust.begin(nanos);
    Map<PoolId, PoolRow> wanted = certain && clock.isPresent() ? enough(commands) : null;
    certain = false;
    if (wanted == null) {
      return Optional.empty();
    }
    trust.rely();
    return Optional.of(
        new ScopeState(
            clock.get(),
            buyerLimit,
            Map.of(),
            List.of(),
            false,
            Map.of(),
            wanted,
            Map.of(),
            Map.of()));
  }

  /** Records a committed batch that read and locked its rows. */
  void learn(ScopeState state, long stateNanos, Plan plan) {
    if (pools.size() > MAX_POOLS) {
      pools.clear();
    }
    state
        .pools()
        .forEach(
            (id, row) -> {
              if (!row.hasUnits()) {
                pools.put(id, row);
              }
            });
    trust.read(state.now(), stateNanos);
    buyerLimit = state.buyerLimit();
    follow(plan);
  }

  /** Records a committed batch that was decided from the cache. */
  void confirm(Plan plan) {
    if (trust.confirm()) {
      follow(plan);
    }
  }

  private void follow(Plan plan) {
    for (PoolChange change : plan.pools()) {
      pools.computeIfPresent(change.counts().pool(), (id, row) -> row.after(change));
    }
    certain = true;
  }

  private @Nullable Map<PoolId, PoolRow> enough(List<Acquire> commands) {
    Map<PoolId, Integer> quantities = new HashMap<>();
    for (Acquire command : commands) {
      for (Line line : command.lines()) {
        quantities.merge(line.pool(), line.quantity(), Integer::sum);
      }
    }
    Map<PoolId, PoolRow> wanted = new HashMap<>();
    for (Map.Entry<PoolId, Integer> quantity : quantities.entrySet()) {
      PoolRow row = pools.get(quantity.getKey());
      if (row == null || row.pauseReason() != null || row.counts().free() < quantity.getValue()) {
        return null;
      }
      wanted.put(quantity.getKey(), row);
    }
    return wanted;
  }
}
