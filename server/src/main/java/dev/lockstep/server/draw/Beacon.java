package dev.lockstep.server.draw;

import java.time.Instant;
import java.util.Optional;

/**
 * Public randomness that nobody could know when the entrants were frozen, such as a round of drand.
 * With it not even who knows the seed can steer a draw by choosing the last purchases.
 */
@FunctionalInterface
public interface Beacon {
  int VALUE_BYTES = 32;

  /**
   * The value for a list frozen at this time: the same whenever and on whichever node it is asked
   * for. May block; called outside any transaction.
   *
   * @return {@value #VALUE_BYTES} bytes; empty as long as there is none yet
   */
  Optional<byte[]> valueFor(Instant frozenAt);
}
