package dev.lockstep.combine;

import java.time.Duration;

/**
 * The moving average of a writer's time per request. It turns a queue length into a retry-after.
 */
final class ServiceRate {
  private static final double WEIGHT_OF_NEWEST = 0.2;
  private static final double FIRST_GUESS_NANOS = 1_000_000;
  private static final Duration SHORTEST = Duration.ofMillis(50);
  private static final Duration LONGEST = Duration.ofSeconds(30);

  private double nanosPerRequest = FIRST_GUESS_NANOS;

  synchronized void served(int requests, long elapsedNanos) {
    double newest = (double) elapsedNanos / requests;
    nanosPerRequest += WEIGHT_OF_NEWEST * (newest - nanosPerRequest);
  }

  /** Estimates when this many writers have served this many requests; between 50 ms and 30 s. */
  synchronized Duration retryAfter(int waiting, int writers) {
    Duration estimate = Duration.ofNanos((long) (nanosPerRequest * waiting / writers));
    if (estimate.compareTo(SHORTEST) < 0) {
      return SHORTEST;
    }
    return estimate.compareTo(LONGEST) > 0 ? LONGEST : estimate;
  }
}
