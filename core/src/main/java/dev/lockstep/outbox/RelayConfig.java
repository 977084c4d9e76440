package dev.lockstep.outbox;

import dev.lockstep.shard.ShardsConfig;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import javax.sql.DataSource;

/**
 * Configures a relay. Start from {@link #named} and change what differs.
 *
 * @param node the node's name, for people
 * @param lease how long after its last heartbeat a node keeps its partitions (10 s)
 * @param heartbeatInterval (2.5 s)
 * @param pollInterval the longest time between two reads of the table, with or without hints (1 s).
 *     After an event the next read comes within milliseconds; the delay then doubles up to this
 * @param batchRows the most events read at a time, per stream and partition (5,000)
 * @param batchBytes the most content read at a time, per stream and partition; a single event may
 *     be larger (1 MiB)
 * @param deliverTimeout after this an unanswered delivery means that the sink is down (30 s)
 * @param firstPause how long a sink that is down, or a key that failed, is left alone; doubles with
 *     each failure (100 ms)
 * @param maxPause the longest such pause (30 s)
 * @param maxAttempts failures before an event's key is parked (10)
 * @param maxParkedKeys blocked keys per sink and partition; at this number the sink counts as down
 *     (10,000)
 * @param maintenanceInterval between two checks for segments to make or drop (1 min)
 * @param closeTimeout how long {@link Relay#close} waits for deliveries under way (20 s)
 * @param listen where to get a dedicated connection for notifications, not through a pooler in
 *     transaction mode. Empty: the relay polls
 * @param listener receives deliveries and cursor writes
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
    Optional<DataSource> listen,
    RelayListener listener) {

  public RelayConfig {
    requireMillis("pollInterval", pollInterval);
    requireMillis("deliverTimeout", deliverTimeout);
    requireMillis("firstPause", firstPause);
    requireMillis("maintenanceInterval", maintenanceInterval);
    if (batchRows < 1 || batchRows > 100_000 || batchBytes < 1) {
      throw new IllegalArgumentException("batchRows must be 1 to 100,000, batchBytes at least 1");
    }
    requireMillis("maxPause", maxPause);
    if (maxPause.compareTo(firstPause) < 0) {
      throw new IllegalArgumentException("maxPause must not be shorter than firstPause");
    }
    if (maxAttempts < 1 || maxParkedKeys < 1) {
      throw new IllegalArgumentException("maxAttempts and maxParkedKeys must be at least 1");
    }
    if (closeTimeout.isNegative()) {
      throw new IllegalArgumentException("closeTimeout must not be negative");
    }
  }

  private static void requireMillis(String name, Duration duration) {
    if (duration.compareTo(Duration.ofMillis(1)) < 0
        || duration.compareTo(OutboxConfig.LONGEST) > 0) {
      throw new IllegalArgumentException(name + " must be 1 ms to ten years, is " + duration);
    }
  }

  public static RelayConfig named(String node) {
    return new RelayConfig(
        node,
        Duration.ofSeconds(10),
        Duration.ofMillis(2_500),
        Duration.ofSeconds(1),
        5_000,
        1024 * 1024,
        Duration.ofSeconds(30),
        Duration.ofMillis(100),
        Duration.ofSeconds(30),
        10,
        10_000,
        Duration.ofMinutes(1),
        Duration.ofSeconds(20),
        Optional.empty(),
        RelayListener.NONE);
  }

  public RelayConfig withLease(Duration lease, Duration heartbeatInterval) {
    return with(
        next -> {
          next.lease = lease;
          next.heartbeatInterval = heartbeatInterval;
        });
  }

  public RelayConfig withPollInterval(Duration pollInterval) {
    return with(next -> next.pollInterval = pollInterval);
  }

  public RelayConfig withBatchRows(int batchRows) {
    return with(next -> next.batchRows = batchRows);
  }

  public RelayConfig withBatchBytes(int batchBytes) {
    return with(next -> next.batchBytes = batchBytes);
  }

  public RelayConfig withDeliverTimeout(Duration deliverTimeout) {
    return with(next -> next.deliverTimeout = deliverTimeout);
  }

  public RelayConfig withPauses(Duration firstPause, Duration maxPause) {
    return with(
        next -> {
          next.firstPause = firstPause;
          next.maxPause = maxPause;
        });
  }

  public RelayConfig withMaxAttempts(int maxAttempts) {
    return with(next -> next.maxAttempts = maxAttempts);
  }

  public RelayConfig withMaxParkedKeys(int maxParkedKeys) {
    return with(next -> next.maxParkedKeys = maxParkedKeys);
  }

  public RelayConfig withMaintenanceInterval(Duration maintenanceInterval) {
    return with(next -> next.maintenanceInterval = maintenanceInterval);
  }

  public RelayConfig withCloseTimeout(Duration closeTimeout) {
    return with(next -> next.closeTimeout = closeTimeout);
  }

  public RelayConfig withListen(DataSource listen) {
    return with(next -> next.listen = Optional.of(listen));
  }

  public RelayConfig withListener(RelayListener listener) {
    return with(next -> next.listener = listener);
  }

  private RelayConfig with(Consumer<Draft> change) {
    Draft next = new Draft(this);
    change.accept(next);
    return next.config();
  }

  /** A mutable copy, to change one value. */
  private static final class Draft {
    final String node;
    Duration lease;
    Duration heartbeatInterval;
    Duration pollInterval;
    int batchRows;
    int batchBytes;
    Duration deliverTimeout;
    Duration firstPause;
    Duration maxPause;
    int maxAttempts;
    int maxParkedKeys;
    Duration maintenanceInterval;
    Duration closeTimeout;
    Optional<DataSource> listen;
    RelayListener listener;

    Draft(RelayConfig from) {
      node = from.node;
      lease = from.lease;
      heartbeatInterval = from.heartbeatInterval;
      pollInterval = from.pollInterval;
      batchRows = from.batchRows;
      batchBytes = from.batchBytes;
      deliverTimeout = from.deliverTimeout;
      firstPause = from.firstPause;
      maxPause = from.maxPause;
      maxAttempts = from.maxAttempts;
      maxParkedKeys = from.maxParkedKeys;
      maintenanceInterval = from.maintenanceInterval;
      closeTimeout = from.closeTimeout;
      listen = from.listen;
      listener = from.listener;
    }

    RelayConfig config() {
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
          listen,
          listener);
    }
  }

  ShardsConfig shards(int partitions) {
    return ShardsConfig.of(OutboxConfig.GROUP, node)
        .withShards(partitions)
        .withLease(lease, heartbeatInterval)
        .withCloseTimeout(closeTimeout);
  }
}
