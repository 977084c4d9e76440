package dev.lockstep.hold;

import java.time.Duration;

/**
 * Limits how often and how far a caller may extend a hold. It is checked under the hold's lock, so
 * it holds under any concurrency.
 *
 * @param maxExtensions how often one hold can be extended under a bound; 0: never
 * @param maxHoldFor the longest time from now that an extend may ask for
 * @param maxLifetime the longest time from acquiring the hold to its expiry; {@link
 *     HoldsConfig#maxLifetime()} applies as well
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
