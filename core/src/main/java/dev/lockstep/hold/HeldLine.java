package dev.lockstep.hold;

import java.util.List;

/**
 * What a hold has of one pool.
 *
 * @param units the units, for a pool of units; empty for a counted pool
 */
public record HeldLine(PoolId pool, int quantity, List<Integer> units) {
  public HeldLine {
    units = List.copyOf(units);
  }
}
