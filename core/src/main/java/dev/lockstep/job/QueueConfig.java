package dev.lockstep.job;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How a worker serves a queue.
 *
 * @param name of the queue
 * @param concurrency jobs this worker runs at a time
 * @param readAhead due jobs it keeps in memory (1,000, or the concurrency if greater). Other nodes
 *     never wait for them, since each shard has one owner
 * @param firstBackoff the longest wait after the first failure; doubles with each further one (1 s)
 * @param maxBackoff the longest wait after any failure (1 h)
 */
public record QueueConfig(
    String name, int concurrency, int readAhead, Duration firstBackoff, Duration maxBackoff) {
  public static final int MAX_CONCURRENCY = 1_000;
  public static final int MAX_READ_AHEAD = 10_000;

  public QueueConfig {
    NameRule.require("A queue", name);
    if (concurrency < 1 || concurrency > MAX_CONCURRENCY) {
      throw new IllegalArgumentException("concurrency must be 1 to %d".formatted(MAX_CONCURRENCY));
    }
    if (readAhead < concurrency || readAhead > MAX_READ_AHEAD) {
      throw new IllegalArgumentException(
          "readAhead must be at least the concurrency and at most %d".formatted(MAX_READ_AHEAD));
    }
    if (firstBackoff.toMillis() < 1
        || maxBackoff.compareTo(firstBackoff) < 0
        || maxBackoff.compareTo(JobsConfig.LONGEST) > 0) {
      throw new IllegalArgumentException(
          "Backoffs must be 1 ms <= firstBackoff <= maxBackoff <= ten years");
    }
  }

  public static QueueConfig of(String name, int concurrency) {
    return new QueueConfig(
        name,
        concurrency,
        Math.max(1_000, concurrency),
        Duration.ofSeconds(1),
        Duration.ofHours(1));
  }

  public QueueConfig withReadAhead(int readAhead) {
    return new QueueConfig(name, concurrency, readAhead, firstBackoff, maxBackoff);
  }

  public QueueConfig withBackoff(Duration firstBackoff, Duration maxBackoff) {
    return new QueueConfig(name, concurrency, readAhead, firstBackoff, maxBackoff);
  }

  /**
   * The wait after this failed attempt: random in the upper half of the exponential bound. Jobs
   * that failed together come back apart, and none comes back at once.
   */
  Duration backoffAfter(int attempt) {
    int doublings = Math.min(attempt - 1, 40);
    long boundMs = maxBackoff.toMillis();
    if (firstBackoff.toMillis() < boundMs >> doublings) {
      boundMs = firstBackoff.toMillis() << doublings;
    }
    return Duration.ofMillis(boundMs - ThreadLocalRandom.current().nextLong(boundMs / 2 + 1));
  }
}
