package dev.lockstep.hold;

import java.util.HashSet;
import java.util.List;

/**
 * What a buyer wants of one pool.
 *
 * @param pool which pool
 * @param quantity how many, from 1 to {@value #MAX_QUANTITY}
 * @param units the very units wanted; empty: whichever the shuffle gives next
 */
public record Line(PoolId pool, int quantity, List<Integer> units) {
  public static final int MAX_QUANTITY = 10_000;

  public Line {
    if (quantity < 1 || quantity > MAX_QUANTITY) {
      throw new IllegalArgumentException(
          "A quantity is 1 to %d, not %d".formatted(MAX_QUANTITY, quantity));
    }
    units = List.copyOf(units);
    if (!units.isEmpty() && units.size() != quantity) {
      throw new IllegalArgumentException("As many units as the quantity says, or none");
    }
    if (new HashSet<>(units).size() != units.size()) {
      throw new IllegalArgumentException("A unit is asked for twice");
    }
  }

  public static Line of(PoolId pool, int quantity) {
    return new Line(pool, quantity, List.of());
  }

  /** These very units (seats, positions). */
  public static Line units(PoolId pool, List<Integer> units) {
    return new Line(pool, units.size(), units);
  }
}
