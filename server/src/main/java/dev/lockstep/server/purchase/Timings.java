package dev.lockstep.server.purchase;

import java.time.Duration;

/**
 * When the timer looks at a purchase.
 *
 * @param lookAfter the delay before its first look at an unfinished purchase; doubles with each
 *     look, up to 32 times (10 s)
 * @param pollInterval the longest time between two looks at what is due (1 s); at most the shortest
 *     time to pay, so that none is found late
 * @param actionWindow how long a buyer may take for the bank's challenge: the only extension (10
 *     min)
 */
public record Timings(Duration lookAfter, Duration pollInterval, Duration actionWindow) {
  public static final Timings DEFAULT =
      new Timings(Duration.ofSeconds(10), Duration.ofSeconds(1), Duration.ofMinutes(10));

  public Timings {
    if (lookAfter.toMillis() < 1 || pollInterval.toMillis() < 1 || actionWindow.toMillis() < 1) {
      throw new IllegalArgumentException("every timing must be at least 1 ms");
    }
    if (actionWindow.compareTo(Duration.ofMinutes(30)) > 0) {
      // Well within the time that a hold in checkout is kept.
      throw new IllegalArgumentException("actionWindow must be at most 30 min");
    }
  }

  public Timings withLookAfter(Duration lookAfter) {
    return new Timings(lookAfter, pollInterval, actionWindow);
  }

  public Timings withPollInterval(Duration pollInterval) {
    return new Timings(lookAfter, pollInterval, actionWindow);
  }

  public Timings withActionWindow(Duration actionWindow) {
    return new Timings(lookAfter, pollInterval, actionWindow);
  }
}
