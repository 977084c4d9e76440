package dev.lockstep.hold;

import dev.lockstep.combine.Reliance;
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
 * What the last batch of a scope left there, so that the next need not read it again: a batch that
 * takes from known, open, counted pools, all of which have enough, is written at once.
 *
 * <p>Nothing depends on the memory being right. The writes compare all that a grant rests on with
 * what is there ({@link PlanWriter}), and where another node was faster the batch is decided again
 * on locked rows. A refusal is never given from memory: only who has the lock may say "sold out".
 * Where it often misses it is left alone for a while ({@link Reliance}).
 *
 * <p>Used by one writer of the scope at a time.
 */
final class ScopeMemory {
  /** Then another node may have sold as well. */
  private static final Duration CLOCK_LASTS = Duration.ofSeconds(1);

  private static final int MAX_POOLS = 10_000;

  private final Reliance reliance = new Reliance(CLOCK_LASTS);
  private final Map<PoolId, PoolRow> pools = new HashMap<>();
  private OptionalInt buyerLimit = OptionalInt.empty();
  // False from when a batch begins to when it is known to have committed.
  private boolean certain;

  /** The state such a batch can be decided on without reading; empty: it has to be read. */
  Optional<ScopeState> recall(List<Acquire> commands, long nanos) {
    Optional<Instant> clock = reliance.begin(nanos);
    Map<PoolId, PoolRow> wanted = certain && clock.isPresent() ? enough(commands) : null;
    certain = false;
    if (wanted == null) {
      return Optional.empty();
    }
    reliance.rely();
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

  /** A batch that read and locked what it needed has committed. */
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
    reliance.read(state.now(), stateNanos);
    buyerLimit = state.buyerLimit();
    follow(plan);
  }

  /** A batch that was decided from memory has committed. */
  void confirm(Plan plan) {
    if (reliance.confirm()) {
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
