package dev.lockstep.server.database;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How long the database has not answered anyone. The clock stands still while this process does: a
 * process that was suspended, or had no processor, cannot know. One thread ticks; all other methods
 * are thread-safe.
 */
final class Silence {
  /** Waiting requests are checked soon after, so an answer takes at most three seconds. */
  static final Duration LONGEST = Duration.ofSeconds(2);

  static final long TICK_MS = 100;

  /** A longer gap between two ticks is the process's own fault. */
  private static final long LONGEST_TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(3 * TICK_MS);

  private long tickedNanos = System.nanoTime();
  private final AtomicLong awakeNanos = new AtomicLong();
  private volatile long heardNanos;

  /** The database answered someone. */
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
