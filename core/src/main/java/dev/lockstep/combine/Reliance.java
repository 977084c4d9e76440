package dev.lockstep.combine;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Whether a writer may go by what it remembers of a key instead of reading it: while the database's
 * clock can be carried on by our own, and while that mostly turns out well.
 *
 * <p>Several nodes that write to one key would miss again and again, and so would a client that
 * repeats itself: after a miss nothing is relied on for a while, longer each time.
 *
 * <p>Used by one writer of the key at a time.
 */
public final class Reliance {
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final int MAX_DOUBLINGS = 7;

  private final long clockLastsNanos;
  // Null: the database's clock was never read.
  private @Nullable Instant readAt;
  private long readNanos;
  private boolean relied;
  private int misses;
  private long pausedUntilNanos;

  /**
   * @param clockLasts how long the database's clock is carried on by our own; the longer, the more
   *     is remembered that somebody else has changed
   */
  public Reliance(Duration clockLasts) {
    this.clockLastsNanos = clockLasts.toNanos();
  }

  /**
   * A batch begins. If the one before relied on memory and was not confirmed, it missed.
   *
   * @param nanos by the clock of this process
   * @return the database's time by now; empty: it has to be read, as has all else
   */
  public Optional<Instant> begin(long nanos) {
    if (relied) {
      relied = false;
      pausedUntilNanos = nanos + (FIRST_PAUSE.toNanos() << Math.min(misses, MAX_DOUBLINGS));
      misses++;
    }
    Instant read = readAt;
    boolean usable =
        nanos - readNanos < clockLastsNanos && (misses == 0 || nanos - pausedUntilNanos >= 0);
    return read != null && usable
        ? Optional.of(read.plusNanos((nanos - readNanos) / 1_000 * 1_000))
        : Optional.empty();
  }

  /** The batch that has begun goes by memory. */
  public void rely() {
    relied = true;
  }

  /**
   * The batch has committed.
   *
   * @return whether it went by memory
   */
  public boolean confirm() {
    if (!relied) {
      return false;
    }
    relied = false;
    misses = 0;
    return true;
  }

  /**
   * The database's clock was read.
   *
   * @param nanos when, by the clock of this process
   */
  public void read(Instant now, long nanos) {
    readAt = now;
    readNanos = nanos;
  }
}
