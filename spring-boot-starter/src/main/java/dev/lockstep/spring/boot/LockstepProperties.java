package dev.lockstep.spring.boot;

import dev.lockstep.spring.SchemaSetup;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What can be set under {@code lockstep}.
 *
 * @param enabled whether Lockstep is configured at all
 * @param node this node's name, for people; by default the application's name, host and process
 * @param listen whether the worker and the relay hear of new work by notifications, each on a
 *     connection of its own outside the pool. Otherwise they poll
 * @param schema Lockstep's tables
 * @param tx transactions that Lockstep begins itself
 * @param holds stock
 * @param ledger accounts
 * @param once idempotency keys
 * @param jobs jobs and the worker of this node
 * @param outbox events and the relay of this node
 */
@ConfigurationProperties("lockstep")
public record LockstepProperties(
    @DefaultValue("true") boolean enabled,
    @Nullable String node,
    @DefaultValue("true") boolean listen,
    @DefaultValue Schema schema,
    @DefaultValue Tx tx,
    @DefaultValue Sweeping holds,
    @DefaultValue Sweeping ledger,
    @DefaultValue Once once,
    @DefaultValue Jobs jobs,
    @DefaultValue Outbox outbox) {

  /**
   * Lockstep's tables.
   *
   * @param migrations what to do about Lockstep's tables at the start
   */
  public record Schema(@DefaultValue("apply") SchemaSetup.Mode migrations) {}

  /**
   * Transactions that Lockstep begins itself.
   *
   * @param lockTimeout longest wait for one lock
   * @param statementTimeout longest run of one statement
   * @param idleTimeout longest time the server waits for the next statement
   * @param deadline longest time for a whole call, with all attempts
   */
  public record Tx(
      @DefaultValue("3s") Duration lockTimeout,
      @DefaultValue("10s") Duration statementTimeout,
      @DefaultValue("5s") Duration idleTimeout,
      @DefaultValue("30s") Duration deadline) {}

  /**
   * How what has expired is ended.
   *
   * @param sweepInterval between two sweeps of what has expired; zero for never
   */
  public record Sweeping(@DefaultValue("5s") Duration sweepInterval) {}

  /**
   * Idempotency keys.
   *
   * @param keepFor how long a key and its answer are kept
   * @param removeInterval between two removals of expired keys; zero for never
   */
  public record Once(
      @DefaultValue("24h") Duration keepFor, @DefaultValue("10m") Duration removeInterval) {}

  /**
   * Jobs, and the worker of this node.
   *
   * @param enabled whether this node runs jobs
   * @param shards over how many shards jobs are spread; fixed by the first node, never to be
   *     changed
   * @param historyDays for how many days done jobs can be looked up
   * @param lease how long after its last heartbeat a node keeps its jobs
   * @param pollInterval longest time between two looks for due jobs
   * @param stopTimeout how long a stop waits for running jobs
   * @param concurrency jobs at a time of each queue that is not under queues
   * @param queues the queues of this node, by name, besides those that methods name
   */
  public record Jobs(
      @DefaultValue("true") boolean enabled,
      @DefaultValue("32") int shards,
      @DefaultValue("0") int historyDays,
      @DefaultValue("10s") Duration lease,
      @DefaultValue("2s") Duration pollInterval,
      @DefaultValue("25s") Duration stopTimeout,
      @DefaultValue("4") int concurrency,
      @DefaultValue Map<String, Queue> queues) {}

  /**
   * How this node serves a queue.
   *
   * @param concurrency jobs of the queue that this node runs at a time
   * @param firstBackoff longest wait after the first failure; it doubles with each further one
   * @param maxBackoff longest wait after any failure
   */
  public record Queue(
      @DefaultValue("4") int concurrency,
      @DefaultValue("1s") Duration firstBackoff,
      @DefaultValue("1h") Duration maxBackoff) {}

  /**
   * Events, and the relay of this node.
   *
   * @param relay whether this node delivers events
   * @param partitions over how many partitions keys are spread; fixed by the first node, never to
   *     be changed
   * @param streams streams that are made at the start if they are missing
   */
  public record Outbox(
      @DefaultValue("true") boolean relay,
      @DefaultValue("16") int partitions,
      @DefaultValue List<String> streams) {}
}
