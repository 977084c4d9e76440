package dev.lockstep.hold;

import java.time.Duration;

/**
 * How often and how far somebody may extend a hold. It is compared with the hold under its lock, so
 * it holds however many ask at once.
 *
 * @param maxExtensions how often one hold can be extended under a bound; 0: never
 * @param maxHoldFor the longest time from now that can be asked for
 * @param maxLifetime the longest time from taking the hold to its expiry; {@link
 *     HoldsConfig#maxLifetime()} holds as well
 */
public record ExtensionBound(int maxExtensions, Duration maxHoldFor, Duration maxLifetime) {
  public static final int MAX_EXTENSIONS = 1_000;

  public ExtensionBound {
    if (maxExtensions < 0 || maxExtensions > MAX_EXTENSIONS) {
      throw new IllegalArgumentException(
          "A hold can be extended 0 to %d times, not %d".formatted(MAX_EXTENSIONS, maxExtensions));
    }
  }
}
