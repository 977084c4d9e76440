package dev.lockstep.shard;

import java.time.Duration;
import java.util.Objects;

/**
 * How a node takes part in a group. {@code group} and {@code shards} are the same on all nodes; the
 * first that starts decides for ever.
 *
 * @param group names the work, as in "job"
 * @param shards over how many shards it is spread: no more nodes than that can share it (32)
 * @param node names this node to people
 * @param lease how long after its last heartbeat a node counts as alive (10 s)
 * @param heartbeatInterval time between heartbeats (2.5 s); also how soon a free shard is noticed
 * @param closeTimeout how long {@link Shards#close} waits for shards to be handed over (20 s)
 */
public record ShardsConfig(
    String group,
    int shards,
    String node,
    Duration lease,
    Duration heartbeatInterval,
    Duration closeTimeout) {
  public static final int MAX_SHARDS = 1024;
  public static final int MAX_NAME_LENGTH = 100;
  private static final Duration MIN_INTERVAL = Duration.ofMillis(10);
  private static final Duration MAX_LEASE = Duration.ofHours(1);

  public ShardsConfig {
    requireName("group", group);
    requireName("node", node);
    Objects.checkIndex(shards - 1, MAX_SHARDS);
    if (heartbeatInterval.compareTo(MIN_INTERVAL) < 0
        || heartbeatInterval.multipliedBy(2).compareTo(lease) > 0
        || lease.compareTo(MAX_LEASE) > 0) {
      throw new IllegalArgumentException(
          "10 ms <= heartbeatInterval <= lease / 2 and lease <= 1 h does not hold: one heartbeat"
              + " may come late, and a lease that long would stop the work for an hour");
    }
    if (closeTimeout.isNegative()) {
      throw new IllegalArgumentException("closeTimeout must not be negative, is " + closeTimeout);
    }
  }

  public static ShardsConfig of(String group, String node) {
    return new ShardsConfig(
        group, 32, node, Duration.ofSeconds(10), Duration.ofMillis(2_500), Duration.ofSeconds(20));
  }

  public ShardsConfig withShards(int shards) {
    return new ShardsConfig(group, shards, node, lease, heartbeatInterval, closeTimeout);
  }

  public ShardsConfig withLease(Duration lease, Duration heartbeatInterval) {
    return new ShardsConfig(group, shards, node, lease, heartbeatInterval, closeTimeout);
  }

  public ShardsConfig withCloseTimeout(Duration closeTimeout) {
    return new ShardsConfig(group, shards, node, lease, heartbeatInterval, closeTimeout);
  }

  private static void requireName(String what, String name) {
    boolean storable = name.chars().allMatch(c -> c >= ' ' && !Character.isSurrogate((char) c));
    if (name.isBlank() || name.length() > MAX_NAME_LENGTH || !storable) {
      throw new IllegalArgumentException(
          "%s is 1 to %d characters, none of them a control character or beyond the basic plane"
              .formatted(what, MAX_NAME_LENGTH));
    }
  }
}
