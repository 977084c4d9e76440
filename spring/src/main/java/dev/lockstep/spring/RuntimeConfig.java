package dev.lockstep.spring;

import dev.lockstep.job.Handlers;
import dev.lockstep.job.QueueConfig;
import dev.lockstep.job.WorkerConfig;
import dev.lockstep.outbox.RelayConfig;
import dev.lockstep.outbox.SinkTypes;
import java.time.Duration;
import java.util.List;

/**
 * Configures what {@link LockstepRuntime} starts.
 *
 * @param works whether this node runs jobs
 * @param worker its worker, with the queues that were configured
 * @param handlers besides the methods with {@link JobHandler}
 * @param queue how a queue is served that only a method names; its name does not matter
 * @param relays whether this node delivers events
 * @param sinkTypes besides the methods with {@link OutboxSink}
 * @param streams made at the start if they are missing
 * @param holdInterval between two sweeps of expired holds; zero: never
 * @param ledgerInterval between two sweeps of expired transfers; zero: never
 * @param onceInterval between two removals of expired idempotency keys; zero: never
 */
public record RuntimeConfig(
    boolean works,
    WorkerConfig worker,
    Handlers handlers,
    QueueConfig queue,
    boolean relays,
    RelayConfig relay,
    SinkTypes sinkTypes,
    List<String> streams,
    Duration holdInterval,
    Duration ledgerInterval,
    Duration onceInterval) {
  public RuntimeConfig {
    streams = List.copyOf(streams);
  }
}
