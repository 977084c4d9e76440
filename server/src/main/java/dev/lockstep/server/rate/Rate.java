package dev.lockstep.server.rate;

import java.time.Duration;

/**
 * How often something may be done.
 *
 * @param perSecond sustained, 1 to 1,000,000
 * @param burst at once after a pause; at least {@code perSecond}, at most 10,000,000
 */
public record Rate(int perSecond, int burst) {
  private static final int MAX_PER_SECOND = 1_000_000;
  private static final int MAX_BURST = 10_000_000;

  public Rate {
    if (perSecond < 1 || perSecond > MAX_PER_SECOND) {
      throw new IllegalArgumentException("perSecond must be 1 to " + MAX_PER_SECOND);
    }
    if (burst < perSecond || burst > MAX_BURST) {
      throw new IllegalArgumentException(
          "burst must be at least perSecond, " + perSecond + ", and at most " + MAX_BURST);
    }
  }

  /** How long an empty bucket takes to fill, in whole seconds, rounded up. */
  public long windowSeconds() {
    return ((long) burst + perSecond - 1) / perSecond;
  }

  Duration perToken() {
    return Duration.ofSeconds(1).dividedBy(perSecond);
  }
}
