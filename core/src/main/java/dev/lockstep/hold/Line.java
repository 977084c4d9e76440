package dev.lockstep.hold;

import java.util.HashSet;
import java.util.List;

/**
 * What a buyer wants of one pool.
 *
 * @param pool which pool
 * @param quantity how many, from 1 to {@value #MAX_QUANTITY}
 * @param units the exact units wanted; if empty, the next ones in the shuffle
 */
public record Line(PoolId pool, int quantity, List<Integer> units) {
  public static final int MAX_QUANTITY = 10_000;

  public Line {
    if (quantity < 1 || quantity > MAX_QUANTITY) {
      throw new IllegalArgumentException(
          "A quantity must be 1 to %d, not %d".formatted(MAX_QUANTITY, quantity));
    }
    units = List.copyOf(units);
    if (!units.isEmpty() && units.size() != quantity) {
      throw new IllegalArgumentException("A line must name as many units as its quantity, or none");
    }
    if (new HashSet<>(units).size() != units.size()) {
      throw new IllegalArgumentException("A line must not name a unit twice");
    }
  }

  public static Line of(PoolId pool, int quantity) {
    return new Line(pool, quantity, List.of());
  }

  /** Exactly these units (seats, positions). */
  public static Line units(PoolId pool, List<Integer> units) {
    return new Line(pool, units.size(), units);
  }
}
