package dev.lockstep.server.api;

import java.time.Duration;

/**
 * How many requests may wait for the database. Buyers' requests and operators' reports have
 * separate threads and connections, so that neither waits for the other.
 *
 * @param threads for buyers' requests and every change (8); fewer than the pool's connections,
 *     which the combiner and background work also use
 * @param maxWaiting requests that may run or wait; one more is refused (2,000)
 * @param reportThreads threads and connections of reports (4)
 * @param maxReportsWaiting reports that may run or wait; one more is refused (64)
 * @param reportTimeout of one report, including its longest statement (5 s)
 */
public record WorkersConfig(
    int threads, int maxWaiting, int reportThreads, int maxReportsWaiting, Duration reportTimeout) {
  public static final WorkersConfig DEFAULT =
      new WorkersConfig(8, 2_000, 4, 64, Duration.ofSeconds(5));

  public WorkersConfig {
    if (threads < 1 || maxWaiting < 1 || reportThreads < 1 || maxReportsWaiting < 1) {
      throw new IllegalArgumentException("each count must be at least 1");
    }
    if (reportTimeout.toMillis() < 1) {
      throw new IllegalArgumentException("reportTimeout must be at least 1 ms");
    }
  }
}
