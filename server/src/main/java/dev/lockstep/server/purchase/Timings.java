package dev.lockstep.server.purchase;

import java.time.Duration;

/**
 * When a purchase is looked after.
 *
 * @param lookAfter when a timer looks at a purchase about which nothing was heard; doubles with
 *     each look, thirty-two-fold at most (10 s)
 * @param pollInterval the longest time between two looks at what is due (1 s): no more than the
 *     shortest time to pay there is, so that none is found late
 * @param actionWindow how long a buyer may take for the bank's challenge: the one extension there
 *     is (10 min)
 */
public record Timings(Duration lookAfter, Duration pollInterval, Duration actionWindow) {
  public static final Timings DEFAULT =
      new Timings(Duration.ofSeconds(10), Duration.ofSeconds(1), Duration.ofMinutes(10));

  public Timings {
    if (lookAfter.toMillis() < 1 || pollInterval.toMillis() < 1 || actionWindow.toMillis() < 1) {
      throw new IllegalArgumentException("every timing is at least 1 ms");
    }
    if (actionWindow.compareTo(Duration.ofMinutes(30)) > 0) {
      // Well within the time for which a hold in checkout is kept from expiring.
      throw new IllegalArgumentException("actionWindow is at most 30 min");
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
