package dev.lockstep.outbox;

import dev.lockstep.shard.ShardsConfig;
import java.time.Duration;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * How a node relays. Start from {@link #named} and change what differs.
 *
 * @param node names it to people
 * @param lease how long after its last heartbeat a node's partitions stay its own (10 s)
 * @param heartbeatInterval (2.5 s)
 * @param pollInterval longest time between two looks at the table, whatever the hints say (1 s).
 *     After an event the next look comes in milliseconds, and then ever later up to this
 * @param batchRows most events read at a time, of a stream in a partition (1,000)
 * @param batchBytes most content read at a time, of a stream in a partition; one event may be more
 *     (1 MiB)
 * @param deliverTimeout after which a delivery that was not answered counts as a sink that is down
 *     (30 s)
 * @param firstPause how long a sink that is down, or a key that failed, is left alone; doubled with
 *     each failure (100 ms)
 * @param maxPause longest such pause (30 s)
 * @param maxAttempts failures after which an event's key is parked (10)
 * @param maxParkedKeys for each sink and partition; at this point the sink counts as down (10,000)
 * @param maintenanceInterval between two looks for segments to make and to drop (1 min)
 * @param closeTimeout how long {@link Relay#close} waits for what is on its way (20 s)
 * @param listen where to get a connection of its own for notifications: directly, not through a
 *     pooler in transaction mode. Empty: the relay polls
 */
public record RelayConfig(
    String node,
    Duration lease,
    Duration heartbeatInterval,
    Duration pollInterval,
    int batchRows,
    int batchBytes,
    Duration deliverTimeout,
    Duration firstPause,
    Duration maxPause,
    int maxAttempts,
    int maxParkedKeys,
    Duration maintenanceInterval,
    Duration closeTimeout,
    Optional<DataSource> listen) {

  public RelayConfig {
    requireMillis("pollInterval", pollInterval);
    requireMillis("deliverTimeout", deliverTimeout);
    requireMillis("firstPause", firstPause);
    requireMillis("maintenanceInterval", maintenanceInterval);
    if (batchRows < 1 || batchRows > 100_000 || batchBytes < 1) {
      throw new IllegalArgumentException("batchRows is 1 to 100,000, batchBytes at least 1");
    }
    if (maxPause.compareTo(firstPause) < 0) {
      throw new IllegalArgumentException("maxPause is not shorter than firstPause");
    }
    if (maxAttempts < 1 || maxParkedKeys < 1) {
      throw new IllegalArgumentException("maxAttempts and maxParkedKeys are at least 1");
    }
    if (closeTimeout.isNegative()) {
      throw new IllegalArgumentException("closeTimeout is not negative");
    }
  }

  private static void requireMillis(String name, Duration duration) {
    if (duration.toMillis() < 1) {
      throw new IllegalArgumentException(name + " is at least a millisecond");
    }
  }

  public static RelayConfig named(String node) {
    return new RelayConfig(
        node,
        Duration.ofSeconds(10),
        Duration.ofMillis(2_500),
        Duration.ofSeconds(1),
        1_000,
        1024 * 1024,
        Duration.ofSeconds(30),
        Duration.ofMillis(100),
        Duration.ofSeconds(30),
        10,
        10_000,
        Duration.ofMinutes(1),
        Duration.ofSeconds(20),
        Optional.empty());
  }

  public RelayConfig withLease(Duration lease, Duration heartbeatInterval) {
    return new RelayConfig(
        node,
        lease,
        heartbeatInterval,
        pollInterval,
        batchRows,
        batchBytes,
        deliverTimeout,
        firstPause,
        maxPause,
        maxAttempts,
        maxParkedKeys,
        maintenanceInterval,
        closeTimeout,
        listen);
  }

  public RelayConfig withPollInterval(Duration pollInterval) {
    return new RelayConfig(
        node,
        lease,
        heartbeatInterval,
        pollInterval,
        batchRows,
        batchBytes,
        deliverTimeout,
        firstPause,
        maxPause,
        maxAttempts,
        maxParkedKeys,
        maintenanceInterval,
        closeTimeout,
        listen);
  }

  public RelayConfig withBatchRows(int batchRows) {
    return new RelayConfig(
        node,
        lease,
        heartbeatInterval,
        pollInterval,
        batchRows,
        batchBytes,
        deliverTimeout,
        firstPause,
        maxPause,
        maxAttempts,
        maxParkedKeys,
        maintenanceInterval,
        closeTimeout,
        listen);
  }

  public RelayConfig withBatchBytes(int batchBytes) {
    return new RelayConfig(
        node,
        lease,
        heartbeatInterval,
        pollInterval,
        batchRows,
        batchBytes,
        deliverTimeout,
        firstPause,
        maxPause,
        maxAttempts,
        maxParkedKeys,
        maintenanceInterval,
        closeTimeout,
        listen);
  }

  public RelayConfig withDeliverTimeout(Duration deliverTimeout) {
    return new RelayConfig(
        node,
        lease,
        heartbeatInterval,
        pollInterval,
        batchRows,
        batchBytes,
        deliverTimeout,
        firstPause,
        maxPause,
        maxAttempts,
        maxParkedKeys,
        maintenanceInterval,
        closeTimeout,
        listen);
  }

  public RelayConfig withPauses(Duration firstPause, Duration maxPause) {
    return new RelayConfig(
        node,
        lease,
        heartbeatInterval,
        pollInterval,
        batchRows,
        batchBytes,
        deliverTimeout,
        firstPause,
        maxPause,
        maxAttempts,
        maxParkedKeys,
        maintenanceInterval,
        closeTimeout,
        listen);
  }

  public RelayConfig withMaxAttempts(int maxAttempts) {
    return new RelayConfig(
        node,
        lease,
        heartbeatInterval,
        pollInterval,
        batchRows,
        batchBytes,
        deliverTimeout,
        firstPause,
        maxPause,
        maxAttempts,
        maxParkedKeys,
        maintenanceInterval,
        closeTimeout,
        listen);
  }

  public RelayConfig withMaxParkedKeys(int maxParkedKeys) {
    return new RelayConfig(
        node,
        lease,
        heartbeatInterval,
        pollInterval,
        batchRows,
        batchBytes,
        deliverTimeout,
        firstPause,
        maxPause,
        maxAttempts,
        maxParkedKeys,
        maintenanceInterval,
        closeTimeout,
        listen);
  }

  public RelayConfig withMaintenanceInterval(Duration maintenanceInterval) {
    return new RelayConfig(
        node,
        lease,
        heartbeatInterval,
        pollInterval,
        batchRows,
        batchBytes,
        deliverTimeout,
        firstPause,
        maxPause,
        maxAttempts,
        maxParkedKeys,
        maintenanceInterval,
        closeTimeout,
        listen);
  }

  public RelayConfig withCloseTimeout(Duration closeTimeout) {
    return new RelayConfig(
        node,
        lease,
        heartbeatInterval,
        pollInterval,
        batchRows,
        batchBytes,
        deliverTimeout,
        firstPause,
        maxPause,
        maxAttempts,
        maxParkedKeys,
        maintenanceInterval,
        closeTimeout,
        listen);
  }

  public RelayConfig withListen(DataSource listen) {
    return new RelayConfig(
        node,
        lease,
        heartbeatInterval,
        pollInterval,
        batchRows,
        batchBytes,
        deliverTimeout,
        firstPause,
        maxPause,
        maxAttempts,
        maxParkedKeys,
        maintenanceInterval,
        closeTimeout,
        Optional.of(listen));
  }

  ShardsConfig shards(int partitions) {
    return ShardsConfig.of(OutboxConfig.GROUP, node)
        .withShards(partitions)
        .withLease(lease, heartbeatInterval)
        .withCloseTimeout(closeTimeout);
  }
}
