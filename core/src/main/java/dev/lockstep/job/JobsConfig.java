package dev.lockstep.job;

import dev.lockstep.shard.ShardsConfig;
import java.time.Clock;
import java.time.Duration;

/**
 * Configures the jobs block. All nodes that enqueue or run jobs must use the same shards.
 *
 * @param shards how many shards jobs are spread over; never change it once there are jobs (32)
 * @param maxPayloadBytes of one job's JSON (256 KiB)
 * @param maxErrorLength characters kept of an attempt's error or a reason (4,000)
 * @param hints whether enqueueing sends a NOTIFY, so that workers need not wait for the next poll
 *     (true)
 * @param historyDays how many days done jobs can be looked up; 0 keeps none (0)
 * @param clock for the time part of new ids only
 * @param listener receives reads and results
 */
public record JobsConfig(
    int shards,
    int maxPayloadBytes,
    int maxErrorLength,
    boolean hints,
    int historyDays,
    Clock clock,
    JobsListener listener) {
  public static final JobsConfig DEFAULT =
      new JobsConfig(32, 256 * 1024, 4_000, true, 0, Clock.systemUTC(), JobsListener.NONE);

  /** The label of the transaction that claims jobs, for the transactor's listeners. */
  public static final String CLAIM_TRANSACTION = "job claims";

  /** The label of the transaction that marks jobs as running. */
  public static final String MARK_TRANSACTION = "jobs marked";

  /** The label of the transaction that writes how jobs ended. */
  public static final String RESULT_TRANSACTION = "jobs done";

  static final String GROUP = "job";
  static final String CHANNEL = "lockstep_job";
  static final Duration LONGEST = Duration.ofDays(3650);

  public JobsConfig {
    if (shards < 1 || shards > Math.min(ShardsConfig.MAX_SHARDS, 1 << JobId.SHARD_BITS)) {
      throw new IllegalArgumentException(
          "shards must be 1 to %d".formatted(ShardsConfig.MAX_SHARDS));
    }
    if (maxPayloadBytes < 2 || maxErrorLength < 1) {
      throw new IllegalArgumentException(
          "maxPayloadBytes must be at least 2, maxErrorLength at least 1");
    }
    if (historyDays < 0 || historyDays > 3650) {
      throw new IllegalArgumentException("historyDays must be 0 to 3650");
    }
  }

  public JobsConfig withShards(int shards) {
    return new JobsConfig(
        shards, maxPayloadBytes, maxErrorLength, hints, historyDays, clock, listener);
  }

  public JobsConfig withMaxPayloadBytes(int maxPayloadBytes) {
    return new JobsConfig(
        shards, maxPayloadBytes, maxErrorLength, hints, historyDays, clock, listener);
  }

  public JobsConfig withHistoryDays(int historyDays) {
    return new JobsConfig(
        shards, maxPayloadBytes, maxErrorLength, hints, historyDays, clock, listener);
  }

  public JobsConfig withClock(Clock clock) {
    return new JobsConfig(
        shards, maxPayloadBytes, maxErrorLength, hints, historyDays, clock, listener);
  }

  public JobsConfig withListener(JobsListener listener) {
    return new JobsConfig(
        shards, maxPayloadBytes, maxErrorLength, hints, historyDays, clock, listener);
  }
}
