package dev.lockstep.server.draw;

import java.time.Instant;
import java.util.Optional;

/**
 * Public randomness that nobody could know when the entrants were frozen, such as a round of drand.
 * It keeps even someone who knows the seed from steering a draw through the last purchases.
 */
@FunctionalInterface
public interface Beacon {
  int VALUE_BYTES = 32;

  /**
   * The value for a list frozen at this time, the same at every call and on every node. May block;
   * called outside transactions.
   *
   * @return {@value #VALUE_BYTES} bytes; empty until the value is known
   */
  Optional<byte[]> valueFor(Instant frozenAt);
}
