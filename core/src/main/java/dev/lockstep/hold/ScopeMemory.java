package dev.lockstep.hold;

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
 *
 * <p>Several nodes that sell from one scope would miss again and again, and so would a client that
 * repeats itself: after a miss the memory is left alone for a while, longer each time.
 *
 * <p>Used by one writer of the scope at a time.
 */
final class ScopeMemory {
  /** How long the database's clock is carried on by our own. */
  private static final Duration CLOCK_LASTS = Duration.ofSeconds(1);

  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final int MAX_DOUBLINGS = 7;
  private static final int MAX_POOLS = 10_000;

  private final Map<PoolId, PoolRow> pools = new HashMap<>();
  private Instant readAt = Instant.EPOCH;
  private long readNanos;
  private OptionalInt buyerLimit = OptionalInt.empty();
  // False from when a batch begins to when it is known to have committed.
  private boolean certain;
  private boolean relied;
  private int misses;
  private long pausedUntilNanos;

  /** The state such a batch can be decided on without reading; empty: it has to be read. */
  Optional<ScopeState> recall(List<Acquire> commands, long nanos) {
    noteMiss(nanos);
    boolean usable =
        certain
            && nanos - readNanos < CLOCK_LASTS.toNanos()
            && (misses == 0 || nanos - pausedUntilNanos >= 0);
    Map<PoolId, PoolRow> wanted = usable ? enough(commands) : null;
    certain = false;
    if (wanted == null) {
      return Optional.empty();
    }
    relied = true;
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
    readAt = state.now();
    readNanos = stateNanos;
    buyerLimit = state.buyerLimit();
    follow(plan);
  }

  /** A batch that was decided from memory has committed. */
  void confirm(Plan plan) {
    if (relied) {
      relied = false;
      misses = 0;
      follow(plan);
    }
  }

  private void follow(Plan plan) {
    for (PoolChange change : plan.pools()) {
      pools.computeIfPresent(change.counts().pool(), (id, row) -> row.after(change));
    }
    certain = true;
  }

  private void noteMiss(long nanos) {
    if (relied) {
      relied = false;
      pausedUntilNanos = nanos + (FIRST_PAUSE.toNanos() << Math.min(misses, MAX_DOUBLINGS));
      misses++;
    }
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
