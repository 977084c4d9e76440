package dev.lockstep.hold;

import java.util.Optional;

/**
 * A pool to be created.
 *
 * @param total how many there are, from 0 to {@value #MAX_TOTAL}
 * @param shuffle for distinct units 0 to total - 1: the seed their order comes from; empty: a
 *     counted pool
 */
public record NewPool(PoolId id, int total, Optional<UnitShuffle> shuffle) {
  public static final int MAX_TOTAL = 100_000_000;

  public NewPool {
    if (total < 0 || total > MAX_TOTAL) {
      throw new IllegalArgumentException("A pool has 0 to %d, not %d".formatted(MAX_TOTAL, total));
    }
  }

  /** Like things, of which only the number matters. */
  public static NewPool counted(PoolId id, int total) {
    return new NewPool(id, total, Optional.empty());
  }

  /** Distinct units, given out in the order of the shuffle. */
  public static NewPool ofUnits(PoolId id, int total, UnitShuffle shuffle) {
    return new NewPool(id, total, Optional.of(shuffle));
  }
}
