package dev.lockstep.hold;

import java.util.Optional;

/**
 * Selects holds of a scope; an empty field matches every hold.
 *
 * @param after only holds that follow this one in the list
 */
public record HoldFilter(
    Optional<BuyerId> buyer, Optional<HoldState> state, Optional<HoldId> after) {
  /** Every hold. */
  public static final HoldFilter ALL =
      new HoldFilter(Optional.empty(), Optional.empty(), Optional.empty());
}
