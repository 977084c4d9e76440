package dev.lockstep.gateway;

import java.time.Duration;

/**
 * The limits of faults. Separate from {@link GatewayFaults}, because the constants of its parts are
 * checked while it is still being initialised.
 */
final class FaultLimits {
  /** Longer than any client waits; for longer delays, choose "never". */
  private static final Duration MAX_WAIT = Duration.ofHours(1);

  private FaultLimits() {}

  static void requireRate(String name, double rate) {
    // Not the reverse comparison: this one refuses NaN as well.
    if (!(rate >= 0 && rate <= 1)) {
      throw new IllegalArgumentException(name + " must be from 0 to 1, is " + rate);
    }
  }

  static void requireWait(String name, Duration wait) {
    if (wait.isNegative() || wait.compareTo(MAX_WAIT) > 0) {
      throw new IllegalArgumentException(name + " must be from 0 to 1 h, is " + wait);
    }
  }
}
