package dev.lockstep.shard;

import java.time.Duration;

/**
 * Configures a node's membership in a group. {@code group} and {@code shards} must be the same on
 * all nodes; the first node that starts fixes the number for ever.
 *
 * @param group names the work, such as "job"
 * @param shards how many shards the work is spread over; at most this many nodes share it (32)
 * @param node this node's name, for people
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
  private static final Duration LONGEST = Duration.ofDays(3650);

  public ShardsConfig {
    requireName("group", group);
    requireName("node", node);
    if (shards < 1 || shards > MAX_SHARDS) {
      throw new IllegalArgumentException("shards must be 1 to " + MAX_SHARDS + ", is " + shards);
    }
    if (heartbeatInterval.compareTo(MIN_INTERVAL) < 0
        || heartbeatInterval.multipliedBy(2).compareTo(lease) > 0
        || lease.compareTo(MAX_LEASE) > 0) {
      throw new IllegalArgumentException(
          "heartbeatInterval must be 10 ms to lease / 2, so that one heartbeat may come late;"
              + " lease must be at most 1 h");
    }
    if (closeTimeout.isNegative() || closeTimeout.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException("closeTimeout must be 0 to ten years, is " + closeTimeout);
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
          "%s must be 1 to %d characters, without control characters and surrogates"
              .formatted(what, MAX_NAME_LENGTH));
    }
  }
}
