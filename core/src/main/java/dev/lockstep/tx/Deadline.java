package dev.lockstep.tx;

import java.time.Duration;

/** A point on this process's monotonic clock. */
record Deadline(long atNanos) {

  static Deadline after(Duration duration) {
    return new Deadline(System.nanoTime() + duration.toNanos());
  }

  /**
   * To the millisecond, in which the server's timeouts are counted: a statement that was given all
   * the time there was must not be found to have ended a fraction too early.
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
