package dev.lockstep.server.key;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A token bucket a name: so many requests a second, and a burst on top for who was quiet.
 * Thread-safe.
 */
final class TokenBuckets {
  private static final int MAX_BUCKETS = 100_000;

  /**
   * A bucket is full or filling: all there is to know is when it will be full.
   *
   * @param fullAtNanos the moment, on the clock given
   */
  private record Bucket(long fullAtNanos) {}

  private final long nanosPerToken;
  private final long nanosPerBurst;
  private final LongSupplier nanoTime;
  private final Map<String, Bucket> buckets = new ConcurrentHashMap<>();

  TokenBuckets(int perSecond, int burst, LongSupplier nanoTime) {
    this.nanosPerToken = Duration.ofSeconds(1).toNanos() / perSecond;
    this.nanosPerBurst = nanosPerToken * burst;
    this.nanoTime = nanoTime;
  }

  /** Takes a token; when there is none, says when there will be. */
  Optional<Duration> take(String name) {
    if (buckets.size() >= MAX_BUCKETS) {
      forgetFull();
    }
    long now = nanoTime.getAsLong();
    long[] wait = {0};
    buckets.compute(name, (key, bucket) -> taken(bucket, now, wait));
    return wait[0] > 0 ? Optional.of(Duration.ofNanos(wait[0])) : Optional.empty();
  }

  private Bucket taken(@Nullable Bucket bucket, long now, long[] wait) {
    long fullAt = bucket == null || bucket.fullAtNanos() - now < 0 ? now : bucket.fullAtNanos();
    long after = fullAt + nanosPerToken;
    long tooMuch = after - now - nanosPerBurst;
    if (tooMuch > 0) {
      wait[0] = tooMuch;
      return new Bucket(fullAt);
    }
    return new Bucket(after);
  }

  /** A full bucket is the same as none. */
  private void forgetFull() {
    long now = nanoTime.getAsLong();
    buckets.values().removeIf(bucket -> bucket.fullAtNanos() - now <= 0);
  }
}
