package dev.lockstep.hold;

import dev.lockstep.hold.Plan.UnitChange;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.SqlArray;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes the units of a plan. Units taken in shuffle order are found by rank, because they are
 * neighbours in that index and in the table. Their numbers are scattered by the shuffle; found by
 * number, each unit would be on another index page. Returned units were not read and are found by
 * number.
 */
final class UnitWrites {
  /** With at most this many pools, every rank of the batch is looked up in every pool. */
  private static final int FEW_POOLS = 4;

  // A unit changes hands only from the owner it was seen with; otherwise rank becomes NULL, which
  // the column refuses.
  private static final String BY_NUMBER =
      """
      UPDATE lockstep.unit u SET hold = x.after, returned = (x.after IS NULL),
        rank = CASE WHEN u.hold IS NOT DISTINCT FROM x.before THEN u.rank END
      FROM unnest(?, ?, ?, ?) AS x (pool, unit, before, after)
      WHERE u.scope = ? AND u.pool = x.pool AND u.unit = x.unit
        AND u.pool = ANY (?) AND u.unit = ANY (?)""";

  // The units were read as free and must still be. Uses the expressions of unit_by_rank, like the
  // query that reads, but not the plain scope as well: the planner would take the two conditions
  // for independent, expect one row in the scope, and scan all of them for each unit taken.
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

  /** Whether {@link #paired} adds a statement that joins several rows. */
  boolean pairs() {
    return others.size() > 1 || (fewPools && taken.size() > 1);
  }

  /** Adds the statements that join by hash. */
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

  /** Adds the statement that looks units up one by one. */
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
