package dev.lockstep.server.api;

import java.time.Duration;

/**
 * How many requests wait for the database at a time, on either side. Buyers' requests and
 * operators' reports have threads and connections of their own, so that neither waits for the
 * other.
 *
 * @param threads that buyers' requests, and every change, run on (8); fewer than the pool has
 *     connections, since the combiner and the background have theirs
 * @param maxWaiting of these requests, beyond which one is refused (2,000)
 * @param reportThreads that reports run on, and connections that they have (4)
 * @param maxReportsWaiting beyond which a report is refused (64)
 * @param reportTimeout how long one may take, its longest statement included (5 s)
 */
public record WorkersConfig(
    int threads, int maxWaiting, int reportThreads, int maxReportsWaiting, Duration reportTimeout) {
  public static final WorkersConfig DEFAULT =
      new WorkersConfig(8, 2_000, 4, 64, Duration.ofSeconds(5));

  public WorkersConfig {
    if (threads < 1 || maxWaiting < 1 || reportThreads < 1 || maxReportsWaiting < 1) {
      throw new IllegalArgumentException("There has to be at least one of each");
    }
    if (reportTimeout.toMillis() < 1) {
      throw new IllegalArgumentException("A report needs at least a millisecond");
    }
  }
}
