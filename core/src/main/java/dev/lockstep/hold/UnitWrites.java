package dev.lockstep.hold;

import dev.lockstep.hold.Plan.UnitChange;
import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.SqlArray;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes the units of a plan. Those that are taken in the order of the shuffle are found by their
 * rank: they lie beside each other in its index and in the table. Found by their numbers, which the
 * shuffle has scattered, the units of a batch would be on as many pages of the index as they are.
 * Only what is given back was never read, and has nothing but its number.
 */
final class UnitWrites {
  /** Of so many pools at most, all ranks of a batch may be looked for in each. */
  private static final int FEW_POOLS = 4;

  // A unit changes hands only from the owner it was seen with: no unit is without a rank.
  private static final String BY_NUMBER =
      """
      UPDATE lockstep.unit u SET hold = x.after, returned = (x.after IS NULL),
        rank = CASE WHEN u.hold IS NOT DISTINCT FROM x.before THEN u.rank END
      FROM unnest(?, ?, ?, ?) AS x (pool, unit, before, after)
      WHERE u.scope = ? AND u.pool = x.pool AND u.unit = x.unit
        AND u.pool = ANY (?) AND u.unit = ANY (?)""";

  // What was read is free, and is so still. Asks by the expressions of unit_by_rank, like the
  // statement that reads, and not for the scope itself as well: a planner takes the two for
  // independent, expects one row of the scope, and goes through all of them for each that is taken.
  static final String BY_RANK =
      """
      UPDATE lockstep.unit u SET hold = x.hold, returned = false,
        rank = CASE WHEN u.hold IS NULL AND u.unit = x.unit THEN u.rank END
      FROM unnest(?, ?, ?, ?) AS x (pool, rank, unit, hold)
      WHERE u.scope + 0 = ? AND u.pool + 0 = x.pool AND u.rank = x.rank""";

  private static final String BY_RANK_IN_FEW_POOLS =
      BY_RANK + "\n  AND u.pool + 0 = ANY (?) AND u.rank = ANY (?)";

  private final long scope;
  private final List<UnitChange> taken = new ArrayList<>();
  private final List<UnitChange> others = new ArrayList<>();
  private final boolean fewPools;

  UnitWrites(ScopeId scope, List<UnitChange> units) {
    this.scope = scope.value();
    for (UnitChange unit : units) {
      (unit.rank() != null && unit.before() == null ? taken : others).add(unit);
    }
    this.fewPools = new TreeSet<>(pools(taken)).size() <= FEW_POOLS;
  }

  /** Whether {@link #paired} adds a statement that has several rows to pair. */
  boolean pairs() {
    return others.size() > 1 || (fewPools && taken.size() > 1);
  }

  /** Adds what is paired by hash. */
  void paired(RoundTrip trip) {
    if (!others.isEmpty()) {
      trip.update(
          BY_NUMBER,
          SqlArray.bigints(pools(others)),
          SqlArray.integers(numbers(others)),
          SqlArray.uuids(map(others, unit -> uuid(unit.before()))),
          SqlArray.uuids(map(others, unit -> uuid(unit.after()))),
          scope,
          SqlArray.bigints(new TreeSet<>(pools(others))),
          SqlArray.integers(numbers(others)));
    }
    if (!taken.isEmpty() && fewPools) {
      SqlArray ranks = ranks();
      trip.update(
          BY_RANK_IN_FEW_POOLS,
          SqlArray.bigints(pools(taken)),
          ranks,
          SqlArray.integers(numbers(taken)),
          SqlArray.uuids(map(taken, unit -> uuid(unit.after()))),
          scope,
          SqlArray.bigints(new TreeSet<>(pools(taken))),
          ranks);
    }
  }

  /** Adds what is looked up one by one. */
  void lookedUp(RoundTrip trip) {
    if (!taken.isEmpty() && !fewPools) {
      trip.update(
          BY_RANK,
          SqlArray.bigints(pools(taken)),
          ranks(),
          SqlArray.integers(numbers(taken)),
          SqlArray.uuids(map(taken, unit -> uuid(unit.after()))),
          scope);
    }
  }

  private SqlArray ranks() {
    List<Integer> ranks = new ArrayList<>(taken.size());
    for (UnitChange unit : taken) {
      if (unit.rank() != null) {
        ranks.add(unit.rank());
      }
    }
    return SqlArray.integers(ranks);
  }

  private static List<Long> pools(Collection<UnitChange> units) {
    return map(units, unit -> unit.pool().value());
  }

  private static List<Integer> numbers(Collection<UnitChange> units) {
    return map(units, UnitChange::unit);
  }

  private static @Nullable UUID uuid(@Nullable HoldId id) {
    return id == null ? null : id.value();
  }

  private static <R extends @Nullable Object> List<R> map(
      Collection<UnitChange> units, Function<UnitChange, ? extends R> column) {
    List<R> values = new ArrayList<>(units.size());
    units.forEach(unit -> values.add(column.apply(unit)));
    return values;
  }
}
