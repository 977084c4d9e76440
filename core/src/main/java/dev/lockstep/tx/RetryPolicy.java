package dev.lockstep.tx;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How often and how soon a transaction runs again: exponential backoff with full jitter, so that
 * callers that collided do not collide again in step.
 *
 * @param maxAttempts attempts in total, including the first
 * @param firstBackoff upper bound of the first wait; doubles with each attempt
 * @param maxBackoff upper bound of any wait
 */
public record RetryPolicy(int maxAttempts, Duration firstBackoff, Duration maxBackoff) {

  /** Twenty attempts, with waits up to 2 ms, 4 ms, 8 ms … 500 ms. */
  public static final RetryPolicy DEFAULT =
      new RetryPolicy(20, Duration.ofMillis(2), Duration.ofMillis(500));

  /** One attempt only. */
  public static final RetryPolicy NEVER =
      new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1));

  public RetryPolicy {
    if (maxAttempts < 1) {
      throw new IllegalArgumentException("maxAttempts must be at least 1, is " + maxAttempts);
    }
    if (firstBackoff.isNegative() || firstBackoff.isZero()) {
      throw new IllegalArgumentException("firstBackoff must be positive, is " + firstBackoff);
    }
    if (maxBackoff.compareTo(firstBackoff) < 0) {
      throw new IllegalArgumentException("maxBackoff must not be below firstBackoff");
    }
  }

  /** The wait after the given failed attempt: uniform between zero and the exponential bound. */
  public Duration backoffAfter(int attempt) {
    int doublings = Math.min(attempt - 1, 30);
    long boundNanos =
        Math.min(maxBackoff.toNanos(), saturatedShift(firstBackoff.toNanos(), doublings));
    return Duration.ofNanos(ThreadLocalRandom.current().nextLong(boundNanos + 1));
  }

  private static long saturatedShift(long value, int doublings) {
    long shifted = value << doublings;
    return shifted >> doublings == value ? shifted : Long.MAX_VALUE;
  }
}
