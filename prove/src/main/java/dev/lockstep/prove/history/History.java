package dev.lockstep.prove.history;

import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The calls of one round, by start.
 *
 * @param wallOffsetNanos what to add to a time of the driver's clock to get nanoseconds since 1970
 */
public record History(List<Op> ops, long wallOffsetNanos) {
  public History {
    ops = ops.stream().sorted(Comparator.comparingLong(Op::start)).toList();
  }

  public Stream<Op> of(String kind) {
    return ops.stream().filter(op -> op.kind().equals(kind));
  }

  public History where(Predicate<Op> wanted) {
    return new History(ops.stream().filter(wanted).toList(), wallOffsetNanos);
  }

  /** A time of the database's clock, in microseconds since 1970, on the driver's clock. */
  public long driverNanos(long databaseMicros) {
    return databaseMicros * 1_000 - wallOffsetNanos;
  }
}
