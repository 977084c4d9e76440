package dev.lockstep.spring;

import dev.lockstep.combine.Sweeper;
import dev.lockstep.job.Handlers;
import dev.lockstep.job.QueueConfig;
import dev.lockstep.job.Schedules;
import dev.lockstep.job.Worker;
import dev.lockstep.job.WorkerConfig;
import dev.lockstep.outbox.Relay;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Starts the worker, the relay and the sweepers of a node when the application is ready, and stops
 * them before anything else: first the worker, which waits for running jobs, then the relay, then
 * the sweepers. A part that nothing needs is not started.
 */
public final class LockstepRuntime implements SmartLifecycle {
  private static final Logger log = LoggerFactory.getLogger(LockstepRuntime.class);
  private static final int TICKS = 2;

  private final Blocks blocks;
  private final JobMethods jobMethods;
  private final SinkMethods sinkMethods;
  private final RuntimeConfig config;
  // Stopped in reverse order.
  private final Deque<AutoCloseable> started = new ArrayDeque<>();
  private volatile @Nullable Worker worker;
  private volatile @Nullable Relay relay;
  private volatile boolean running;

  public LockstepRuntime(
      Blocks blocks, JobMethods jobMethods, SinkMethods sinkMethods, RuntimeConfig config) {
    this.blocks = blocks;
    this.jobMethods = jobMethods;
    this.sinkMethods = sinkMethods;
    this.config = config;
  }

  @Override
  public void start() {
    try {
      sweep("hold-sweeper", config.holdInterval(), blocks.holds()::sweep);
      sweep("ledger-sweeper", config.ledgerInterval(), blocks.ledger()::sweep);
      sweep("once-sweeper", config.onceInterval(), blocks.once()::removeExpired);
      sinkMethods.ensure(blocks.transactor(), blocks.outbox(), config.streams());
      RecurringSchedules.ensure(blocks.transactor(), blocks.schedules(), jobMethods.recurring());
      startRelay();
      startWorker();
      running = true;
    } catch (RuntimeException e) {
      stop();
      throw e;
    }
  }

  private void sweep(String name, Duration interval, Runnable sweep) {
    if (!interval.isZero()) {
      started.push(new Sweeper(name, interval, sweep));
    }
  }

  private void startRelay() {
    if (config.relays() && !blocks.outbox().streams().isEmpty()) {
      Relay one = blocks.outbox().relay(config.relay(), sinkMethods.types(config.sinkTypes()));
      relay = one;
      started.push(one);
      log.info("Lockstep delivers events as node {}", config.relay().node());
    }
  }

  private void startWorker() {
    WorkerConfig served = withQueues(config.worker());
    if (!config.works() || served.queues().isEmpty()) {
      return;
    }
    Handlers handlers = jobMethods.handlers(config.handlers());
    Worker one =
        blocks
            .jobs()
            .worker(
                served.withQueue(QueueConfig.of(Schedules.QUEUE, TICKS)),
                blocks.schedules().handlers(handlers));
    worker = one;
    started.push(one);
    log.info(
        "Lockstep runs jobs of {} as node {}",
        served.queues().stream().map(QueueConfig::name).toList(),
        served.node());
  }

  /** Adds the queues that only a method names. */
  private WorkerConfig withQueues(WorkerConfig configured) {
    WorkerConfig all = configured;
    Set<String> there = new HashSet<>();
    configured.queues().forEach(queue -> there.add(queue.name()));
    for (String name : jobMethods.queues()) {
      if (there.add(name)) {
        QueueConfig like = config.queue();
        all =
            all.withQueue(
                new QueueConfig(
                    name,
                    like.concurrency(),
                    like.readAhead(),
                    like.firstBackoff(),
                    like.maxBackoff()));
      }
    }
    return all;
  }

  /** The worker, if this node runs jobs. */
  public Optional<Worker> worker() {
    return Optional.ofNullable(worker);
  }

  /** The relay, if this node delivers events. */
  public Optional<Relay> relay() {
    return Optional.ofNullable(relay);
  }

  /** One sentence for each thing that is wrong; empty: healthy. */
  public List<String> problems() {
    List<String> problems = new ArrayList<>();
    worker().ifPresent(one -> problems.addAll(one.health().problems()));
    relay()
        .filter(one -> !one.health().isHealthy())
        .ifPresent(
            one ->
                problems.add(
                    "The relay is "
                        + one.health().state()
                        + one.health().failure().map(why -> ": " + why).orElse("")));
    return problems;
  }

  @Override
  public void stop() {
    running = false;
    worker = null;
    relay = null;
    while (!started.isEmpty()) {
      AutoCloseable next = started.pop();
      try {
        next.close();
      } catch (Exception e) {
        log.warn("Could not stop {} in order", next.getClass().getSimpleName(), e);
      }
    }
  }

  @Override
  public boolean isRunning() {
    return running;
  }
}
