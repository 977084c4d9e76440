package dev.lockstep.outbox;

import java.time.Duration;

/**
 * Leaves a sink alone that is down: for longer each time, until something gets through. Used by one
 * thread; the others may look.
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

  /** Whether the last that was heard of the sink is that it is down. */
  boolean isDown() {
    return failures > 0;
  }

  String reason() {
    return reason;
  }

  /** Time until it is tried again; 0 when it may be. */
  long leftNanos(long nowNanos) {
    return isOpen(nowNanos) ? openUntilNanos - nowNanos : 0;
  }

  /**
   * The sink is down. What was under way together fails together, and counts once.
   *
   * @return false if that was known
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

  /** Doubled with each failure, up to a maximum. */
  static Duration pauseAfter(int failures, Duration first, Duration max) {
    Duration pause = first;
    for (int i = 1; i < failures && pause.compareTo(max) < 0; i++) {
      pause = pause.multipliedBy(2);
    }
    return pause.compareTo(max) < 0 ? pause : max;
  }
}
