package dev.lockstep.outbox;

import dev.lockstep.shard.ShardsConfig;
import java.time.Duration;

/**
 * What all that append and all that relay must agree on, and the limits.
 *
 * @param partitions over how many partitions keys are spread: no more nodes than that can share the
 *     work. Decided for ever by the first that starts (16)
 * @param maxContentBytes of one event (256 KiB)
 * @param keep how long events can still be listed and replayed after every sink has had them (1
 *     day). Freed in whole segments, so some stay longer
 * @param hintInterval how often at most this process tells sleeping relays of new events (20 ms).
 *     Notifying commits wait for each other in PostgreSQL, so not every append does; a relay that
 *     has just had something looks again by itself. Zero: never
 */
public record OutboxConfig(
    int partitions, int maxContentBytes, Duration keep, Duration hintInterval) {
  public static final OutboxConfig DEFAULT =
      new OutboxConfig(16, 256 * 1024, Duration.ofDays(1), Duration.ofMillis(20));

  static final String GROUP = "outbox";
  static final String CHANNEL = "lockstep_outbox";
  private static final int MAX_CONTENT_BYTES = 64 * 1024 * 1024;

  public OutboxConfig {
    if (partitions < 1 || partitions > ShardsConfig.MAX_SHARDS) {
      throw new IllegalArgumentException("partitions is 1 to " + ShardsConfig.MAX_SHARDS);
    }
    if (maxContentBytes < 1 || maxContentBytes > MAX_CONTENT_BYTES) {
      throw new IllegalArgumentException("maxContentBytes is 1 to " + MAX_CONTENT_BYTES);
    }
    if (keep.isNegative() || hintInterval.isNegative()) {
      throw new IllegalArgumentException("keep and hintInterval are not negative");
    }
  }

  public OutboxConfig withPartitions(int partitions) {
    return new OutboxConfig(partitions, maxContentBytes, keep, hintInterval);
  }

  public OutboxConfig withMaxContentBytes(int maxContentBytes) {
    return new OutboxConfig(partitions, maxContentBytes, keep, hintInterval);
  }

  public OutboxConfig withKeep(Duration keep) {
    return new OutboxConfig(partitions, maxContentBytes, keep, hintInterval);
  }

  public OutboxConfig withHintInterval(Duration hintInterval) {
    return new OutboxConfig(partitions, maxContentBytes, keep, hintInterval);
  }
}
