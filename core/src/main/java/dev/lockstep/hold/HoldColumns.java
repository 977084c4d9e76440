package dev.lockstep.hold;

import dev.lockstep.tx.SqlArray;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Holds turned into columns for {@code unnest}. Times travel as microseconds since 1970, which the
 * server need not parse. Lines travel end to end, as unnest would flatten an array of arrays: each
 * hold says how many come before its own, and how many are its own.
 */
final class HoldColumns {
  private final List<Hold> holds;
  private final List<Integer> linesBefore = new ArrayList<>();
  private final List<Integer> lineCounts = new ArrayList<>();
  private final List<Long> pools = new ArrayList<>();
  private final List<Integer> quantities = new ArrayList<>();
  private final List<Integer> unitsBefore = new ArrayList<>();
  private final List<Integer> unitCounts = new ArrayList<>();
  private final List<Long> unitPools = new ArrayList<>();
  private final List<Integer> units = new ArrayList<>();

  HoldColumns(List<Hold> holds) {
    this.holds = holds;
    for (Hold hold : holds) {
      linesBefore.add(pools.size());
      unitsBefore.add(units.size());
      hold.lines().forEach(this::add);
      lineCounts.add(hold.lines().size());
      unitCounts.add(units.size() - unitsBefore.get(unitsBefore.size() - 1));
    }
  }

  private void add(HeldLine line) {
    pools.add(line.pool().value());
    quantities.add(line.quantity());
    for (int unit : line.units()) {
      unitPools.add(line.pool().value());
      units.add(unit);
    }
  }

  SqlArray ids() {
    return SqlArray.uuids(of(hold -> hold.id().value()));
  }

  SqlArray states() {
    return SqlArray.smallints(of(hold -> hold.state().code()));
  }

  SqlArray expiry() {
    return SqlArray.bigints(of(hold -> micros(hold.expiresAt())));
  }

  SqlArray endedAt() {
    return SqlArray.bigints(of(hold -> hold.end().map(end -> micros(end.at())).orElse(null)));
  }

  SqlArray endedBy() {
    return SqlArray.texts(of(hold -> hold.end().map(Hold.End::by).orElse(null)));
  }

  SqlArray linesBefore() {
    return SqlArray.integers(linesBefore);
  }

  SqlArray lineCounts() {
    return SqlArray.integers(lineCounts);
  }

  SqlArray unitsBefore() {
    return SqlArray.integers(unitsBefore);
  }

  SqlArray unitCounts() {
    return SqlArray.integers(unitCounts);
  }

  SqlArray pools() {
    return SqlArray.bigints(pools);
  }

  SqlArray quantities() {
    return SqlArray.integers(quantities);
  }

  SqlArray unitPools() {
    return SqlArray.bigints(unitPools);
  }

  SqlArray units() {
    return SqlArray.integers(units);
  }

  <R extends @Nullable Object> List<R> of(Function<Hold, R> column) {
    List<R> values = new ArrayList<>(holds.size());
    holds.forEach(hold -> values.add(column.apply(hold)));
    return values;
  }

  private static long micros(Instant time) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, time);
  }
}
