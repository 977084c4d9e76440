package dev.lockstep.hold;

import dev.lockstep.sql.SqlArray;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Turns holds into columns for a statement. Times travel as microseconds since 1970, which the
 * server need not parse; 0 means no time. The lines of all holds travel end to end, because SQL has
 * no array of arrays of different lengths. Each hold says where its lines begin and end, counted
 * from one.
 */
final class HoldColumns {
  private final List<Hold> holds;
  private final List<Integer> lineFrom = new ArrayList<>();
  private final List<Integer> lineTo = new ArrayList<>();
  private final List<Long> pools = new ArrayList<>();
  private final List<Integer> quantities = new ArrayList<>();
  private final List<Integer> unitFrom = new ArrayList<>();
  private final List<Integer> unitTo = new ArrayList<>();
  private final List<Long> unitPools = new ArrayList<>();
  private final List<Integer> units = new ArrayList<>();

  HoldColumns(List<Hold> holds) {
    this.holds = holds;
    for (Hold hold : holds) {
      lineFrom.add(pools.size() + 1);
      unitFrom.add(units.size() + 1);
      hold.lines().forEach(this::add);
      lineTo.add(pools.size());
      unitTo.add(units.size());
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

  SqlArray buyers() {
    return SqlArray.texts(of(hold -> hold.buyer().value()));
  }

  SqlArray states() {
    return SqlArray.smallints(of(hold -> hold.state().code()));
  }

  SqlArray extensions() {
    return SqlArray.smallints(of(hold -> (short) hold.extensions()));
  }

  SqlArray expiry() {
    return SqlArray.bigints(of(hold -> micros(hold.expiresAt())));
  }

  SqlArray endedAt() {
    return SqlArray.bigints(of(hold -> hold.end().map(end -> micros(end.at())).orElse(0L)));
  }

  SqlArray endedBy() {
    return SqlArray.texts(of(hold -> hold.end().map(Hold.End::by).orElse(null)));
  }

  SqlArray lineFrom() {
    return SqlArray.integers(lineFrom);
  }

  SqlArray lineTo() {
    return SqlArray.integers(lineTo);
  }

  SqlArray unitFrom() {
    return SqlArray.integers(unitFrom);
  }

  SqlArray unitTo() {
    return SqlArray.integers(unitTo);
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

  private <R extends @Nullable Object> List<R> of(Function<Hold, R> column) {
    List<R> values = new ArrayList<>(holds.size());
    holds.forEach(hold -> values.add(column.apply(hold)));
    return values;
  }

  private static long micros(Instant time) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, time);
  }
}
