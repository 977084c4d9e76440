package dev.lockstep.combine;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a writer may trust its cache of a key instead of reading it: while our clock can
 * stand in for the database's, and while the cache mostly proves right.
 *
 * <p>If several nodes write to one key, or a client repeats its requests, the cache misses often.
 * After each miss the writer reads for a while, longer each time.
 *
 * <p>Used by one writer of the key at a time.
 */
public final class CacheTrust {
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final int MAX_DOUBLINGS = 7;

  private final long clockLastsNanos;
  // Null until the database's clock was read.
  private @Nullable Instant readAt;
  private long readNanos;
  private boolean relied;
  private int misses;
  private long pausedUntilNanos;

  /**
   * @param clockLasts how long our clock stands in for the database's; the longer, the more often
   *     another node has changed what is cached
   */
  public CacheTrust(Duration clockLasts) {
    this.clockLastsNanos = clockLasts.toNanos();
  }

  /**
   * Begins a batch. If the previous batch relied on the cache and was not confirmed, it counts as a
   * miss.
   *
   * @param nanos by this process's clock
   * @return the database's time now; empty if the batch must read it, and everything else
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

  /** Records that the current batch relies on the cache. */
  public void rely() {
    relied = true;
  }

  /**
   * Records that the current batch committed.
   *
   * @return whether it relied on the cache
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
   * Records a reading of the database's clock.
   *
   * @param nanos when, by this process's clock
   */
  public void read(Instant now, long nanos) {
    readAt = now;
    readNanos = nanos;
  }
}
