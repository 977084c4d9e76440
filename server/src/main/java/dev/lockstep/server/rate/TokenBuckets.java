package dev.lockstep.server.rate;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One token bucket per name: a steady rate, and a burst after a pause. Thread-safe.
 *
 * <p>Memory is bounded. If more names are active than there is room for, all buckets start full
 * again. Limits are then softer for a moment, which beats refusing innocent callers.
 */
public final class TokenBuckets {
  private static final int MAX_BUCKETS = 100_000;

  /**
   * A bucket, described by the time when it will be full.
   *
   * @param fullAtNanos that time, on the given clock
   */
  private record Bucket(long fullAtNanos) {}

  private final String policy;
  private final Rate rate;
  private final int maxBuckets;
  private final long nanosPerToken;
  private final long nanosPerBurst;
  private final LongSupplier nanoTime;
  private final Map<String, Bucket> buckets = new ConcurrentHashMap<>();

  /**
   * @param policy the limit's name as clients see it
   */
  public TokenBuckets(String policy, Rate rate, LongSupplier nanoTime) {
    this(policy, rate, nanoTime, MAX_BUCKETS);
  }

  TokenBuckets(String policy, Rate rate, LongSupplier nanoTime, int maxBuckets) {
    this.policy = policy;
    this.rate = rate;
    this.maxBuckets = maxBuckets;
    this.nanosPerToken = rate.perToken().toNanos();
    this.nanosPerBurst = nanosPerToken * rate.burst();
    this.nanoTime = nanoTime;
  }

  /** Takes a token; without one, says when there will be one. */
  public Allowance take(String name) {
    if (buckets.size() >= maxBuckets) {
      makeRoom();
    }
    long now = nanoTime.getAsLong();
    long[] wait = {0};
    Bucket after =
        buckets.compute(
            name,
            (key, bucket) -> {
              long fullAt = fullAt(bucket, now) + nanosPerToken;
              wait[0] = fullAt - now - nanosPerBurst;
              return new Bucket(wait[0] > 0 ? fullAt - nanosPerToken : fullAt);
            });
    return allowance(after.fullAtNanos() - now, wait[0]);
  }

  /** Undoes a {@link #take} that was granted. */
  public void giveBack(String name) {
    long now = nanoTime.getAsLong();
    buckets.computeIfPresent(
        name,
        (key, bucket) -> {
          long fullAt = bucket.fullAtNanos() - nanosPerToken;
          return fullAt - now <= 0 ? null : new Bucket(fullAt);
        });
  }

  /** What {@link #take} would say; takes nothing. */
  public Allowance look(String name) {
    long now = nanoTime.getAsLong();
    long untilFull = fullAt(buckets.get(name), now) - now;
    return allowance(untilFull, untilFull + nanosPerToken - nanosPerBurst);
  }

  private Allowance allowance(long untilFull, long wait) {
    return new Allowance(
        policy,
        rate,
        (int) Math.max(0, (nanosPerBurst - untilFull) / nanosPerToken),
        Duration.ofNanos(untilFull),
        wait > 0 ? Optional.of(Duration.ofNanos(wait)) : Optional.empty());
  }

  int size() {
    return buckets.size();
  }

  private static long fullAt(@Nullable Bucket bucket, long now) {
    return bucket == null || bucket.fullAtNanos() - now < 0 ? now : bucket.fullAtNanos();
  }

  /** A full bucket equals no bucket. */
  private void makeRoom() {
    long now = nanoTime.getAsLong();
    buckets.values().removeIf(bucket -> bucket.fullAtNanos() - now <= 0);
    if (buckets.size() >= maxBuckets) {
      buckets.clear();
    }
  }
}
