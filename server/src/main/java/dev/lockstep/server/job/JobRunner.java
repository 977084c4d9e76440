package dev.lockstep.server.job;

import dev.lockstep.job.Handlers;
import dev.lockstep.job.JobContext;
import dev.lockstep.job.JobHandler;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.JobsConfig;
import dev.lockstep.job.NewJob;
import dev.lockstep.job.NewJob.UniqueKey;
import dev.lockstep.job.Outcome;
import dev.lockstep.job.QueueConfig;
import dev.lockstep.job.Recurrence;
import dev.lockstep.job.Schedules;
import dev.lockstep.job.Worker;
import dev.lockstep.job.WorkerConfig;
import dev.lockstep.job.WorkerHealth;
import dev.lockstep.once.Once;
import dev.lockstep.server.api.Endpoint;
import dev.lockstep.server.api.InFlight;
import dev.lockstep.server.api.Workers;
import dev.lockstep.server.cases.Cases;
import dev.lockstep.server.job.BackgroundJobs.Kind;
import dev.lockstep.server.job.BackgroundJobs.Recurring;
import dev.lockstep.server.job.JobListener.Ending;
import dev.lockstep.tx.Transactor;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The jobs and schedules of this server, and the worker of this node.
 *
 * <p>{@link #jobs} and {@link #schedules} work at once; any started node runs what they write.
 * {@link #close} starts nothing more, waits a bounded time for running jobs and hands over this
 * node's shards. Thread-safe, except for start and close.
 */
public final class JobRunner implements AutoCloseable {
  /** The queue of recurring tasks. */
  public static final String UPKEEP = "upkeep";

  private static final Cases<Outcome, Ending> ENDINGS =
      Cases.<Outcome, Ending>over(Outcome.class)
          .when(Outcome.Done.class, done -> Ending.DONE)
          .when(Outcome.Retry.class, retry -> Ending.RETRY)
          .when(Outcome.Snooze.class, snooze -> Ending.SNOOZE)
          .when(Outcome.Cancel.class, cancel -> Ending.CANCEL)
          .when(Outcome.Dead.class, dead -> Ending.DEAD)
          .complete();

  private static final int UPKEEP_CONCURRENCY = 4;
  private static final int SCHEDULE_CONCURRENCY = 4;

  /** Part of the time that a stop has. Jobs that run longer are interrupted and run again. */
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(2);

  private final Transactor transactor;
  private final Jobs jobs;
  private final Schedules schedules;
  private final WorkerConfig working;
  private final JobListener listener;
  private volatile BackgroundJobs background = BackgroundJobs.none();
  private volatile @Nullable Worker worker;
  private volatile @Nullable ClaimDesk desk;

  /**
   * @param config the same on all nodes
   * @param node this node's name for people
   * @param pollInterval the longest time between two looks for jobs
   * @param reader parses recurrences
   * @param occurrence makes the job of a schedule's occurrence
   * @param listen opens a dedicated connection for notifications; empty: it polls every
   *     pollInterval
   */
  public JobRunner(
      Transactor transactor,
      JobsConfig config,
      String node,
      Duration pollInterval,
      Function<String, Recurrence> reader,
      BiFunction<NewJob, Instant, NewJob> occurrence,
      Optional<DataSource> listen,
      JobListener listener) {
    this.transactor = transactor;
    this.jobs = new Jobs(transactor, config);
    this.schedules = jobs.schedules(reader, occurrence);
    WorkerConfig named =
        WorkerConfig.named(node).withStopTimeout(STOP_TIMEOUT).withPollInterval(pollInterval);
    this.working = listen.map(named::withListen).orElse(named);
    this.listener = listener;
  }

  public Jobs jobs() {
    return jobs;
  }

  public Schedules schedules() {
    return schedules;
  }

  /** Endpoints of jobs and queues. */
  public List<Endpoint> endpoints(Workers workers) {
    List<Endpoint> endpoints = new ArrayList<>();
    endpoints.addAll(new JobApi(transactor, jobs, workers).endpoints());
    endpoints.addAll(new QueueApi(transactor, jobs, workers, this::queues).endpoints());
    endpoints.add(new JobActApi(transactor, workers).endpoint());
    return endpoints;
  }

  /**
   * Endpoints of work over HTTP, on queues that no worker serves. Call it once.
   *
   * @param rules bounds for callers
   * @param events writes the events of a completion
   */
  public List<Endpoint> workEndpoints(
      Vertx vertx,
      Workers workers,
      InFlight inFlight,
      Once once,
      CompletionEvents events,
      ClaimRules rules) {
    ClaimDesk made =
        new ClaimDesk(
            vertx, workers, jobs.claims(), inFlight, rules.maxWaiting(), working.listen());
    desk = made;
    WorkQueues open = new WorkQueues(this::queues);
    return new WorkApi(transactor, jobs, made, workers, once, open, events, rules, listener)
        .endpoints();
  }

  /** Starts to run due jobs. Call it once. Blocks until the node takes part. */
  public void start(List<BackgroundJobs> ofTheDomains) {
    if (worker != null) {
      throw new IllegalStateException("the runner has already been started");
    }
    for (BackgroundJobs more : ofTheDomains) {
      background = background.and(more);
    }
    listener.onStart(
        queues().stream().map(QueueConfig::name).toList(),
        Stream.concat(
                background.kinds().stream().map(Kind::name),
                background.recurring().stream().map(Recurring::kind))
            .toList());
    ensureRecurring();
    worker = jobs.worker(serving(queues()), handlers());
  }

  /** The queues that this node serves. */
  public List<QueueConfig> queues() {
    return Stream.concat(
            Stream.of(
                QueueConfig.of(Schedules.QUEUE, SCHEDULE_CONCURRENCY),
                QueueConfig.of(UPKEEP, UPKEEP_CONCURRENCY)),
            background.queues().stream())
        .toList();
  }

  /**
   * Ensures that every recurring task has its job, which may have been cancelled or may be dead.
   * Several nodes may do so at once; the key admits one job.
   */
  public void ensureRecurring() {
    List<NewJob> wanted =
        background.recurring().stream()
            .map(
                one ->
                    NewJob.of(UPKEEP, one.kind(), "{}")
                        .withUnique(UniqueKey.whileLive(one.kind()))
                        .withMaxAttempts(NewJob.MAX_ATTEMPTS))
            .toList();
    if (!wanted.isEmpty()) {
      transactor.run(connection -> jobs.enqueueAll(connection, wanted));
    }
  }

  /** Counts what waits in every queue and reports it to the listener. */
  public void countQueues() {
    listener.onQueues(jobs.queues());
  }

  /** The health of this node's worker, from memory; healthy before it starts. */
  public WorkerHealth health() {
    Worker running = worker;
    return running == null ? new WorkerHealth(List.of()) : running.health();
  }

  @Override
  public void close() {
    ClaimDesk open = desk;
    if (open != null) {
      open.close();
      desk = null;
    }
    endWork();
  }

  /** Starts no more jobs here and hands over this node's shards; claims over HTTP go on. */
  public void endWork() {
    Worker running = worker;
    worker = null;
    if (running != null) {
      running.close();
    }
  }

  private WorkerConfig serving(List<QueueConfig> queues) {
    WorkerConfig all = working;
    for (QueueConfig queue : queues) {
      all = all.withQueue(queue);
    }
    return all;
  }

  private Handlers handlers() {
    Handlers handlers = schedules.handlers(Handlers.none());
    for (Kind<?> kind : background.kinds()) {
      handlers = handlers.on(kind.name(), observed(handler(kind)));
    }
    for (Recurring recurring : background.recurring()) {
      handlers = handlers.on(recurring.kind(), observed((json, job) -> again(recurring, job)));
    }
    return handlers;
  }

  private static <T> JobHandler<String> handler(Kind<T> kind) {
    return (json, job) -> kind.handler().run(kind.reader().read(json), job);
  }

  /**
   * Snoozes instead of ending. A failure always waits for {@code afterFailure}, however many came
   * before.
   */
  private static Outcome again(Recurring recurring, JobContext job) throws InterruptedException {
    try {
      return new Outcome.Snooze(recurring.task().run(job));
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception | LinkageError | AssertionError | StackOverflowError e) {
      return new Outcome.Retry(e.toString(), Optional.of(recurring.afterFailure()));
    }
  }

  private JobHandler<String> observed(JobHandler<String> handler) {
    return (json, job) -> {
      long begun = System.nanoTime();
      Ending ending = Ending.RETRY;
      try {
        Outcome outcome = handler.run(json, job);
        ending = ENDINGS.of(outcome);
        return outcome;
      } finally {
        listener.onRun(
            job.queue(), job.kind(), ending, Duration.ofNanos(System.nanoTime() - begun));
      }
    };
  }
}
