package dev.lockstep.job;

import dev.lockstep.shard.ShardsConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import javax.sql.DataSource;

/**
 * Configures a worker.
 *
 * @param node the node's name, for people
 * @param queues the queues it serves. A shard's owner runs only its own queues, so every node
 *     should serve every queue
 * @param lease how long after its last heartbeat a node keeps its shards (10 s)
 * @param heartbeatInterval time between heartbeats (2.5 s)
 * @param pollInterval the longest time between two reads of the table, with or without hints (2 s)
 * @param stopTimeout how long {@link Worker#close} waits for running jobs (30 s)
 * @param completionBatch the most jobs completed in one transaction (5,000)
 * @param maxCrashes how many worker crashes a job may be part of before it is dead (3)
 * @param markAfter how long a job runs before its row is marked as running (5 s)
 * @param listen where to get a dedicated connection for notifications, not through a pooler in
 *     transaction mode. Empty: the worker polls
 */
public record WorkerConfig(
    String node,
    List<QueueConfig> queues,
    Duration lease,
    Duration heartbeatInterval,
    Duration pollInterval,
    Duration stopTimeout,
    int completionBatch,
    int maxCrashes,
    Duration markAfter,
    Optional<DataSource> listen) {
  public static final int MAX_QUEUES = 100;
  private static final Duration SHORTEST = Duration.ofMillis(10);
  // Each failed job takes its own statement, and a round trip is limited to 65,535 parameters.
  public static final int MAX_COMPLETION_BATCH = 5_000;

  public WorkerConfig {
    queues = List.copyOf(queues);
    if (queues.size() > MAX_QUEUES
        || queues.stream().map(QueueConfig::name).distinct().count() != queues.size()) {
      throw new IllegalArgumentException(
          "queues must be at most %d, with distinct names".formatted(MAX_QUEUES));
    }
    requireWithin("pollInterval", pollInterval, SHORTEST);
    requireWithin("markAfter", markAfter, SHORTEST);
    requireWithin("stopTimeout", stopTimeout, Duration.ZERO);
    if (completionBatch < 1
        || completionBatch > MAX_COMPLETION_BATCH
        || maxCrashes < 1
        || maxCrashes > 100) {
      throw new IllegalArgumentException("completionBatch must be 1 to 5,000, maxCrashes 1 to 100");
    }
  }

  private static void requireWithin(String name, Duration duration, Duration shortest) {
    if (duration.compareTo(shortest) < 0 || duration.compareTo(JobsConfig.LONGEST) > 0) {
      throw new IllegalArgumentException(
          "%s must be %d ms to ten years, is %s".formatted(name, shortest.toMillis(), duration));
    }
  }

  public static WorkerConfig named(String node) {
    return new WorkerConfig(
        node,
        List.of(),
        Duration.ofSeconds(10),
        Duration.ofMillis(2_500),
        Duration.ofSeconds(2),
        Duration.ofSeconds(30),
        MAX_COMPLETION_BATCH,
        3,
        Duration.ofSeconds(5),
        Optional.empty());
  }

  public WorkerConfig withQueue(QueueConfig queue) {
    List<QueueConfig> all = new ArrayList<>(queues);
    all.add(queue);
    return with(next -> next.queues = all);
  }

  public WorkerConfig withLease(Duration lease, Duration heartbeatInterval) {
    return with(
        next -> {
          next.lease = lease;
          next.heartbeatInterval = heartbeatInterval;
        });
  }

  public WorkerConfig withPollInterval(Duration pollInterval) {
    return with(next -> next.pollInterval = pollInterval);
  }

  public WorkerConfig withStopTimeout(Duration stopTimeout) {
    return with(next -> next.stopTimeout = stopTimeout);
  }

  public WorkerConfig withMaxCrashes(int maxCrashes) {
    return with(next -> next.maxCrashes = maxCrashes);
  }

  public WorkerConfig withMarkAfter(Duration markAfter) {
    return with(next -> next.markAfter = markAfter);
  }

  public WorkerConfig withListen(DataSource listen) {
    return with(next -> next.listen = Optional.of(listen));
  }

  private WorkerConfig with(Consumer<Draft> change) {
    Draft next = new Draft(this);
    change.accept(next);
    return next.config();
  }

  /** A mutable copy, to change one value. */
  private static final class Draft {
    final String node;
    List<QueueConfig> queues;
    Duration lease;
    Duration heartbeatInterval;
    Duration pollInterval;
    Duration stopTimeout;
    final int completionBatch;
    int maxCrashes;
    Duration markAfter;
    Optional<DataSource> listen;

    Draft(WorkerConfig from) {
      node = from.node;
      queues = from.queues;
      lease = from.lease;
      heartbeatInterval = from.heartbeatInterval;
      pollInterval = from.pollInterval;
      stopTimeout = from.stopTimeout;
      completionBatch = from.completionBatch;
      maxCrashes = from.maxCrashes;
      markAfter = from.markAfter;
      listen = from.listen;
    }

    WorkerConfig config() {
      return new WorkerConfig(
          node,
          queues,
          lease,
          heartbeatInterval,
          pollInterval,
          stopTimeout,
          completionBatch,
          maxCrashes,
          markAfter,
          listen);
    }
  }

  ShardsConfig shards(int count) {
    return ShardsConfig.of(JobsConfig.GROUP, node)
        .withShards(count)
        .withLease(lease, heartbeatInterval);
  }
}
