package dev.lockstep.outbox;

import java.time.Duration;

/**
 * Pauses deliveries to a sink that is down, longer each time, until one succeeds. One thread
 * writes; others may read.
 */
final class Breaker {
  private final Duration firstPause;
  private final Duration maxPause;
  private volatile int failures;
  private volatile long openUntilNanos;
  private volatile String reason = "";

  Breaker(Duration firstPause, Duration maxPause) {
    this.firstPause = firstPause;
    this.maxPause = maxPause;
  }

  boolean isOpen(long nowNanos) {
    return failures > 0 && openUntilNanos - nowNanos > 0;
  }

  /** Whether the sink was down at the last attempt. */
  boolean isDown() {
    return failures > 0;
  }

  String reason() {
    return reason;
  }

  /** Time until the next attempt; 0 if it may be now. */
  long leftNanos(long nowNanos) {
    return isOpen(nowNanos) ? openUntilNanos - nowNanos : 0;
  }

  /**
   * Opens the breaker. Deliveries that were under way together fail together and count once.
   *
   * @return false if it was open already
   */
  boolean trip(long nowNanos, String why) {
    if (isOpen(nowNanos)) {
      return false;
    }
    int tripped = failures + 1;
    reason = why;
    openUntilNanos = nowNanos + pauseAfter(tripped, firstPause, maxPause).toNanos();
    failures = tripped;
    return true;
  }

  void reset() {
    failures = 0;
    reason = "";
  }

  /** The pause after this many failures: doubles each time, up to a maximum. */
  static Duration pauseAfter(int failures, Duration first, Duration max) {
    Duration pause = first;
    for (int i = 1; i < failures && pause.compareTo(max) < 0; i++) {
      pause = pause.multipliedBy(2);
    }
    return pause.compareTo(max) < 0 ? pause : max;
  }
}
