package dev.lockstep.tx;

import java.time.Duration;

/** A point on this process's monotonic clock. */
record Deadline(long atNanos) {

  static Deadline after(Duration duration) {
    return new Deadline(System.nanoTime() + duration.toNanos());
  }

  /**
   * Rounds down to the millisecond, the unit of the server's timeouts: a statement that used all
   * the time it was given must not seem to end a fraction of a millisecond before the deadline.
   */
  boolean passed() {
    return remaining().toMillis() < 1;
  }

  /** Never negative. */
  Duration remaining() {
    return Duration.ofNanos(Math.max(0, atNanos - System.nanoTime()));
  }

  boolean isBefore(Deadline other) {
    return atNanos - other.atNanos < 0;
  }

  Duration orSooner(Duration other) {
    Duration left = remaining();
    return left.compareTo(other) < 0 ? left : other;
  }
}
