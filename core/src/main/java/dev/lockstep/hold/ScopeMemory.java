package dev.lockstep.hold;

import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.Plan.PoolChange;
import dev.lockstep.hold.ScopeState.PoolRow;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the last batch of a scope left there, so that the next need not read it again: a batch that
 * takes from known, open, counted pools, all of which have enough, is written at once.
 *
 * <p>Nothing depends on the memory being right. The writes compare all that a grant rests on with
 * what is there ({@link PlanWriter}), and where another node was faster the batch is decided again
 * on locked rows. A refusal is never given from memory: only who has the lock may say "sold out".
 *
 * <p>Several nodes that sell from one scope would miss again and again, and so would a client that
 * repeats itself: after a miss the memory is left alone for a while, longer each time.
 *
 * <p>Pools are lent to a batch that is decided on them, and brought back when it has committed. One
 * that is still lent when the next batch asks for it was lost on the way.
 *
 * <p>Thread-safe: two batches of a scope may be under way, if they have no pool in common.
 */
final class ScopeMemory {
  /** How long the database's clock is carried on by our own. */
  private static final Duration CLOCK_LASTS = Duration.ofSeconds(1);

  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final int MAX_DOUBLINGS = 7;
  private static final int MAX_POOLS = 10_000;

  private final Map<PoolId, PoolRow> pools = new HashMap<>();
  private final Set<PoolId> lent = new HashSet<>();
  private Instant readAt = Instant.EPOCH;
  private long readNanos;
  private OptionalInt buyerLimit = OptionalInt.empty();
  private int misses;
  private long pausedUntilNanos;

  /** The state such a batch can be decided on without reading; empty: it has to be read. */
  synchronized Optional<ScopeState> recall(List<Acquire> commands, long nanos) {
    Map<PoolId, Integer> quantities = quantities(commands);
    noteMiss(quantities.keySet(), nanos);
    boolean usable =
        nanos - readNanos < CLOCK_LASTS.toNanos() && (misses == 0 || nanos - pausedUntilNanos >= 0);
    Map<PoolId, PoolRow> wanted = usable ? enough(quantities) : null;
    if (wanted == null) {
      return Optional.empty();
    }
    lent.addAll(wanted.keySet());
    return Optional.of(
        new ScopeState(
            readAt.plusNanos((nanos - readNanos) / 1_000 * 1_000),
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
  synchronized void learn(ScopeState state, long stateNanos, Plan plan) {
    if (pools.size() > MAX_POOLS) {
      pools.clear();
      lent.clear();
    }
    state
        .pools()
        .forEach(
            (id, row) -> {
              if (!row.hasUnits()) {
                pools.put(id, row);
              }
            });
    readAt = state.now();
    readNanos = stateNanos;
    buyerLimit = state.buyerLimit();
    follow(plan);
  }

  /** A batch that was decided from memory has committed. */
  synchronized void confirm(ScopeState remembered, Plan plan) {
    lent.removeAll(remembered.pools().keySet());
    misses = 0;
    follow(plan);
  }

  private void follow(Plan plan) {
    for (PoolChange change : plan.pools()) {
      pools.computeIfPresent(change.counts().pool(), (id, row) -> row.after(change));
    }
  }

  /** What was lent and not brought back was not as remembered, or nobody knows: it is forgotten. */
  private void noteMiss(Set<PoolId> wanted, long nanos) {
    boolean missed = false;
    for (PoolId id : wanted) {
      if (lent.remove(id)) {
        pools.remove(id);
        missed = true;
      }
    }
    if (missed) {
      pausedUntilNanos = nanos + (FIRST_PAUSE.toNanos() << Math.min(misses, MAX_DOUBLINGS));
      misses++;
    }
  }

  private static Map<PoolId, Integer> quantities(List<Acquire> commands) {
    Map<PoolId, Integer> quantities = new HashMap<>();
    for (Acquire command : commands) {
      for (Line line : command.lines()) {
        quantities.merge(line.pool(), line.quantity(), Integer::sum);
      }
    }
    return quantities;
  }

  private @Nullable Map<PoolId, PoolRow> enough(Map<PoolId, Integer> quantities) {
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
