package dev.lockstep.hold;

import java.util.Optional;

/**
 * A pool to create.
 *
 * @param total the stock, from 0 to {@value #MAX_TOTAL}
 * @param shuffle orders the distinct units 0 to total - 1 by a seed; if empty, the pool is counted
 */
public record NewPool(PoolId id, int total, Optional<UnitShuffle> shuffle) {
  public static final int MAX_TOTAL = 100_000_000;

  public NewPool {
    if (total < 0 || total > MAX_TOTAL) {
      throw new IllegalArgumentException(
          "A pool's total must be 0 to %d, not %d".formatted(MAX_TOTAL, total));
    }
  }

  /** A pool of identical things; only their number matters. */
  public static NewPool counted(PoolId id, int total) {
    return new NewPool(id, total, Optional.empty());
  }

  /** A pool of distinct units, given out in the order of the shuffle. */
  public static NewPool ofUnits(PoolId id, int total, UnitShuffle shuffle) {
    return new NewPool(id, total, Optional.of(shuffle));
  }
}
