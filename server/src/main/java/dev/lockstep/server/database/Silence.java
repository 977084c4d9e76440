package dev.lockstep.server.database;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How long the database has said nothing to anybody. It is measured on a clock that stands still
 * while this process does: a process that was suspended, or had no processor, has not listened, and
 * cannot tell. One thread ticks; everything else is for any thread.
 */
final class Silence {
  /** With the time that those who wait are looked for, an answer comes within three seconds. */
  static final Duration LONGEST = Duration.ofSeconds(2);

  static final long TICK_MS = 100;

  /** What is longer between two ticks is the process's own fault. */
  private static final long LONGEST_TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(3 * TICK_MS);

  private long tickedNanos = System.nanoTime();
  private final AtomicLong awakeNanos = new AtomicLong();
  private volatile long heardNanos;

  /** The database answered somebody. */
  void heard() {
    heardNanos = awakeNanos.get();
  }

  boolean tooLong() {
    return awakeNanos.get() - heardNanos > LONGEST.toNanos();
  }

  void tick() {
    long now = System.nanoTime();
    awakeNanos.addAndGet(Math.min(now - tickedNanos, LONGEST_TICK_NANOS));
    tickedNanos = now;
  }
}
