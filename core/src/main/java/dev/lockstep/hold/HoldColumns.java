package dev.lockstep.hold;

import dev.lockstep.tx.SqlArray;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Holds turned into columns for {@code unnest}. Values that are arrays themselves travel as their
 * text, since unnest would flatten an array of arrays; times likewise.
 */
final class HoldColumns {
  private final List<Hold> holds;

  HoldColumns(List<Hold> holds) {
    this.holds = holds;
  }

  SqlArray ids() {
    return SqlArray.uuids(of(hold -> hold.id().value()));
  }

  SqlArray states() {
    return SqlArray.smallints(of(hold -> hold.state().code()));
  }

  SqlArray expiry() {
    return SqlArray.texts(of(hold -> hold.expiresAt().toString()));
  }

  SqlArray endedAt() {
    return SqlArray.texts(
        of(hold -> hold.end().map(Hold.End::at).map(Instant::toString).orElse(null)));
  }

  SqlArray endedBy() {
    return SqlArray.texts(of(hold -> hold.end().map(Hold.End::by).orElse(null)));
  }

  SqlArray pools() {
    return SqlArray.texts(of(hold -> braces(hold, HoldColumns::addPool)));
  }

  SqlArray quantities() {
    return SqlArray.texts(
        of(hold -> braces(hold, (line, into) -> into.add(String.valueOf(line.quantity())))));
  }

  SqlArray unitPools() {
    return SqlArray.texts(
        of(
            hold ->
                bracesOfUnits(
                    hold, (line, into) -> line.units().forEach(u -> addPool(line, into)))));
  }

  SqlArray units() {
    return SqlArray.texts(
        of(
            hold ->
                bracesOfUnits(
                    hold, (line, into) -> line.units().forEach(u -> into.add(String.valueOf(u))))));
  }

  <R extends @Nullable Object> List<R> of(Function<Hold, R> column) {
    List<R> values = new ArrayList<>(holds.size());
    holds.forEach(hold -> values.add(column.apply(hold)));
    return values;
  }

  private interface LinePart {
    void add(HeldLine line, StringJoiner into);
  }

  private static void addPool(HeldLine line, StringJoiner into) {
    into.add(String.valueOf(line.pool().value()));
  }

  private static String braces(Hold hold, LinePart part) {
    StringJoiner joined = new StringJoiner(",", "{", "}");
    hold.lines().forEach(line -> part.add(line, joined));
    return joined.toString();
  }

  private static @Nullable String bracesOfUnits(Hold hold, LinePart part) {
    boolean none = hold.lines().stream().allMatch(line -> line.units().isEmpty());
    return none ? null : braces(hold, part);
  }
}
