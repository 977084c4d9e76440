package dev.lockstep.outbox;

import dev.lockstep.shard.ShardsConfig;
import java.time.Duration;

/**
 * Configures the outbox. All nodes that append or relay must use the same partitions.
 *
 * @param partitions how many partitions keys are spread over; at most this many nodes share the
 *     work. Fixed for ever by the first process that starts (16)
 * @param maxContentBytes of one event (256 KiB)
 * @param retention the shortest time for which events can be listed and replayed (1 day). Freed in
 *     whole segments, once every sink is past them, so some stay longer
 * @param hintInterval the shortest time between two notifications of this process to sleeping
 *     relays (20 ms). Notifying commits wait for each other in PostgreSQL, so not every append
 *     notifies; a relay that has just found events reads again soon anyway. Zero: never
 */
public record OutboxConfig(
    int partitions, int maxContentBytes, Duration retention, Duration hintInterval) {
  /**
   * The longest duration allowed; far longer ones leave PostgreSQL's range of times. Declared
   * before the default, which is checked against it.
   */
  static final Duration LONGEST = Duration.ofDays(3650);

  public static final OutboxConfig DEFAULT =
      new OutboxConfig(16, 256 * 1024, Duration.ofDays(1), Duration.ofMillis(20));

  static final String GROUP = "outbox";
  static final String CHANNEL = "lockstep_outbox";

  private static final int MAX_CONTENT_BYTES = 64 * 1024 * 1024;

  public OutboxConfig {
    if (partitions < 1 || partitions > ShardsConfig.MAX_SHARDS) {
      throw new IllegalArgumentException("partitions must be 1 to " + ShardsConfig.MAX_SHARDS);
    }
    if (maxContentBytes < 1 || maxContentBytes > MAX_CONTENT_BYTES) {
      throw new IllegalArgumentException("maxContentBytes must be 1 to " + MAX_CONTENT_BYTES);
    }
    requireWithin("retention", retention);
    requireWithin("hintInterval", hintInterval);
  }

  private static void requireWithin(String name, Duration duration) {
    if (duration.isNegative() || duration.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException(name + " must be 0 to ten years, is " + duration);
    }
  }

  public OutboxConfig withPartitions(int partitions) {
    return new OutboxConfig(partitions, maxContentBytes, retention, hintInterval);
  }

  public OutboxConfig withMaxContentBytes(int maxContentBytes) {
    return new OutboxConfig(partitions, maxContentBytes, retention, hintInterval);
  }

  public OutboxConfig withRetention(Duration retention) {
    return new OutboxConfig(partitions, maxContentBytes, retention, hintInterval);
  }
}
