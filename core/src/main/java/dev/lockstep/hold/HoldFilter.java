package dev.lockstep.hold;

import java.util.Optional;

/**
 * Which holds of a scope are wanted; what is empty does not matter.
 *
 * @param after only holds that come behind this one in the list
 */
public record HoldFilter(
    Optional<BuyerId> buyer, Optional<HoldState> state, Optional<HoldId> after) {
  /** Every hold. */
  public static final HoldFilter ALL =
      new HoldFilter(Optional.empty(), Optional.empty(), Optional.empty());
}
