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
  private static final Duration LONGEST = Duration.ofDays(3650);

  public ExtensionBound {
    if (maxExtensions < 0 || maxExtensions > MAX_EXTENSIONS) {
      throw new IllegalArgumentException(
          "A hold can be extended 0 to %d times, not %d".formatted(MAX_EXTENSIONS, maxExtensions));
    }
    requireWithin("maxHoldFor", maxHoldFor);
    requireWithin("maxLifetime", maxLifetime);
  }

  /**
   * Beyond some limit, times leave the range of what can be computed, in a batch of many callers.
   */
  private static void requireWithin(String name, Duration duration) {
    if (duration.isNegative() || duration.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException(name + " must be 0 to ten years, is " + duration);
    }
  }
}
