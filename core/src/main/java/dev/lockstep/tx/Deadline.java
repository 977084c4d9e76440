package dev.lockstep.tx;

import java.time.Duration;

/** A point on this process's monotonic clock. */
record Deadline(long atNanos) {

  static Deadline after(Duration duration) {
    return new Deadline(System.nanoTime() + duration.toNanos());
  }

  boolean passed() {
    return remaining().isZero();
  }

  /** Never negative. */
  Duration remaining() {
    return Duration.ofNanos(Math.max(0, atNanos - System.nanoTime()));
  }

  Duration orSooner(Duration other) {
    Duration left = remaining();
    return left.compareTo(other) < 0 ? left : other;
  }
}
