package dev.lockstep.job;

import dev.lockstep.job.JobReads.QueueRow;
import dev.lockstep.job.JobReads.TableRead;
import dev.lockstep.job.Task.TaskEnd;
import dev.lockstep.shard.Lease;
import dev.lockstep.shard.ShardListener;
import dev.lockstep.shard.ShardOwner;
import dev.lockstep.shard.Shards;
import dev.lockstep.sql.HintListener;
import dev.lockstep.tx.Transactor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs jobs on this node: owns a share of the shards, reads their due jobs, runs them and writes
 * the results.
 *
 * <p>Made by {@link Jobs#worker}. Handlers run on the worker's threads, up to each queue's
 * concurrency. Heartbeats come from another thread, so a handler may take as long as it likes.
 * {@link #close} begins no more jobs, waits for the running ones and hands the shards over. It
 * interrupts jobs that still run after the stop timeout; another node runs them again. Thread-safe.
 */
public final class Worker implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Worker.class);
  private static final Duration END = Duration.ofSeconds(10);
  // Delay before a job that an open transaction is changing is checked again.
  private static final long UNDECIDED_MS = 50;

  private final WorkerConfig config;
  private final JobsConfig jobsConfig;
  private final Handlers handlers;
  private final WorkerMemory memory;
  private final JobReads reads;
  private final RowCheck rowCheck;
  private final Completer completer;
  private final ShardRecovery recovery;
  private final StragglerClaims claims;
  private final StragglerWatch stragglers;
  private final Shards shards;
  private final HintListener hints;
  private final WorkerThread reader;
  private final List<WorkerThread> runners = new ArrayList<>();
  // A job that was running at two crashes runs alone: no other such job runs beside it.
  private final Semaphore dangerous = new Semaphore(1);
  private final Maintenance maintenance;
  private final Consumer<Worker> closed;
  private final AtomicBoolean gaveUp = new AtomicBoolean();
  private long markedNanos = System.nanoTime();
  private volatile boolean stopping;

  Worker(
      Transactor transactor,
      JobsConfig jobsConfig,
      JobIds ids,
      WorkerConfig config,
      Handlers handlers,
      Maintenance.Round maintenance,
      Consumer<Worker> closed,
      TaskState.Observer observer) {
    this.config = config;
    this.jobsConfig = jobsConfig;
    this.handlers = handlers;
    this.maintenance = new Maintenance(maintenance);
    this.closed = closed;
    this.memory = new WorkerMemory(config.queues(), observer);
    this.reads = new JobReads(transactor, jobsConfig.listener());
    this.rowCheck = new RowCheck(reads);
    StragglerTable stragglerTable = new StragglerTable(transactor);
    this.completer =
        new Completer(
            new ResultTransactions(transactor, jobsConfig, ids, memory, stragglerTable),
            config.completionBatch(),
            this::giveUp);
    this.shards = new Shards(transactor, config.shards(jobsConfig.shards()), new OwnedShards());
    this.recovery = new ShardRecovery(transactor, shards, ids, config.maxCrashes());
    this.claims =
        new StragglerClaims(
            transactor, ids, config.queues().stream().map(QueueConfig::name).toList());
    this.stragglers = new StragglerWatch(memory, reads, stragglerTable, claims, recovery);
    this.hints =
        new HintListener(config.listen(), JobsConfig.CHANNEL, "job-hints", queues -> memory.hint());
    this.reader = new WorkerThread("job-reader", this::readAndOffer, this::giveUp);
    for (QueueConfig queue : config.queues()) {
      QueueState state = memory.queue(queue.name());
      for (int i = 0; i < queue.concurrency(); i++) {
        RowCheck.Pace pace = new RowCheck.Pace();
        runners.add(
            new WorkerThread(
                "job-" + queue.name() + "-" + i, () -> runNext(state, pace), this::giveUp));
      }
    }
  }

  void start() {
    completer.start();
    runners.forEach(WorkerThread::start);
    reader.start();
    hints.start();
    shards.start();
    maintenance.start();
  }

  /** Gives the shards up after a thread has died, so that another node runs the jobs. */
  void giveUp() {
    if (!stopping && gaveUp.compareAndSet(false, true)) {
      Thread thread = new Thread(shards::close, "job-give-up");
      thread.setDaemon(true);
      thread.start();
    }
  }

  /**
   * Returns this worker's health: heartbeats, reading, running, writing. A worker that lost a
   * thread has given up its shards and stays unhealthy. Reads memory only.
   */
  public WorkerHealth health() {
    List<String> problems = new ArrayList<>();
    if (gaveUp.get()) {
      problems.add("A thread died, so the worker gave up its shards; restart it");
    }
    shards.trouble().ifPresent(problems::add);
    reader.trouble().ifPresent(problems::add);
    runners.forEach(runner -> runner.trouble().ifPresent(problems::add));
    problems.addAll(completer.troubles());
    return new WorkerHealth(problems);
  }

  /** Call after this node has changed jobs, before the commit. */
  void changed(Collection<JobId> ids) {
    memory.changed(ids);
  }

  /** How many shards this node owns, as far as it knows. */
  public int ownedShards() {
    return memory.shardCount();
  }

  /** The owner of each shard, according to the database. */
  public List<ShardOwner> owners() {
    return shards.owners();
  }

  /** Whether it gets no notifications. */
  boolean polls() {
    return config.listen().isEmpty();
  }

  /** Reads the table now instead of waiting for the next hint or poll. */
  public void wake() {
    memory.hint();
  }

  /** Reacts to shards that come and go. */
  private final class OwnedShards implements ShardListener {
    private @Nullable UUID serving;

    @Override
    public void taken(Lease lease) {
      if (!lease.member().equals(serving)) {
        claims.serve(lease.member());
        serving = lease.member();
      }
      if (!lease.handedOver()) {
        recovery.suspectRunningJobs(lease);
      }
      memory.addShard(lease);
    }

    @Override
    public CompletionStage<?> handOver(Lease lease) {
      if (!memory.owns(lease)) {
        return CompletableFuture.failedStage(
            new IllegalStateException(lease + " is not being worked on yet; hand it over later"));
      }
      // Running jobs go on and keep the right to their results.
      return completer
          .handOver(lease, memory.removeShard(lease, false))
          .whenComplete(
              (marked, failure) -> {
                if (failure != null) {
                  // The shard stays this node's, perhaps for good: the node that wanted it may be
                  // gone. If this node was declared dead meanwhile, the lease is over and addShard
                  // ignores it.
                  memory.addShard(lease);
                }
              });
    }

    @Override
    public void lost(Lease lease) {
      memory.removeShard(lease, true);
    }
  }

  private boolean readAndOffer() throws InterruptedException {
    if (!memory.awaitReason(config.pollInterval().toMillis())) {
      return false;
    }
    try {
      read();
    } catch (RuntimeException | Error e) {
      memory.wakeIn(config.pollInterval().toMillis());
      throw e;
    }
    return true;
  }

  private void read() {
    stragglers.examine();
    JobReads.ReadPlan plan = memory.startRead();
    TableRead table = reads.read(plan);
    Map<String, QueueRow> settings = new HashMap<>();
    table.queues().forEach(row -> settings.put(row.queue(), row));
    double share = (double) memory.shardCount() / jobsConfig.shards();
    for (QueueConfig queue : config.queues()) {
      QueueRow row = settings.getOrDefault(queue.name(), new QueueRow(queue.name(), false, 0));
      memory.setQueue(queue.name(), row.paused(), row.rate() * share);
    }
    memory.offer(plan, table);
    stragglers.lookAfter(config.pollInterval().toMillis());
    markLongRunning();
    table.nextMs().ifPresent(memory::wakeIn);
  }

  /**
   * Marks long-running jobs in their rows: people see them, and if this node dies they are known to
   * have been running. Short jobs, which are nearly all, are spared the write.
   */
  private void markLongRunning() {
    long now = System.nanoTime();
    if (now - markedNanos < config.markAfter().toNanos() / 2) {
      return;
    }
    markedNanos = now;
    memory.longRunning(config.markAfter().toNanos()).forEach(completer::markLater);
  }

  private boolean runNext(QueueState queue, RowCheck.Pace pace) throws InterruptedException {
    // A handler may leave an interrupt behind. The memory, not an interrupt, ends a runner.
    boolean unused = Thread.interrupted();
    Optional<Task> next = memory.next(queue);
    if (next.isEmpty()) {
      return false;
    }
    Task task = next.get();
    try {
      switch (rowCheck.of(task, pace)) {
        case UNCHANGED -> run(task);
        case CHANGED -> notBegun(task, TaskEnd.refused(task));
        case UNDECIDED -> notBegun(task, TaskEnd.postponed(task, UNDECIDED_MS));
      }
    } catch (Throwable e) {
      notBegun(task, TaskEnd.postponed(task, config.pollInterval().toMillis()));
      throw e;
    }
    return true;
  }

  /**
   * Drops a job as if it had not been read. If its row may name this node, because its shard was
   * handed over meanwhile, the mark must be cleared: no other node would run it.
   */
  private void notBegun(Task task, TaskEnd otherwise) {
    if (task.mayBeMarked()) {
      completer.add(JobResult.givenBack(task));
    } else {
      memory.ended(List.of(otherwise));
    }
  }

  private void run(Task task) {
    JobRow row = task.row;
    boolean alone = row.crashes() > 1;
    if (alone && !dangerous.tryAcquire()) {
      // Waiting here would keep the thread from other jobs until that one ends.
      notBegun(task, TaskEnd.postponed(task, config.pollInterval().toMillis()));
      return;
    }
    try {
      if (row.crashes() > 0 && !task.isMarked() && !marked(task)) {
        completer.add(JobResult.givenBack(task));
        return;
      }
      JoinedCompletion completion = completer.joinedCompletion(task);
      JobContext job =
          new JobContext(
              row.id(),
              row.queue(),
              row.kind(),
              row.payload(),
              row.planned(),
              row.attempts() + 1,
              completion);
      Outcome outcome = outcomeOf(job);
      if (completion.wasTried()) {
        completer.settle(task, completion, outcome);
      } else {
        settle(task, outcome);
      }
    } finally {
      if (alone) {
        dangerous.release();
        memory.hint();
      }
    }
  }

  private boolean marked(Task task) {
    try {
      return completer.mark(task);
    } catch (RuntimeException e) {
      log.warn(
          "Job {} could not be marked and did not begin; it is retried: {}",
          task.row.id(),
          e.toString());
      return false;
    }
  }

  private Outcome outcomeOf(JobContext job) {
    try {
      Outcome outcome = handlers.run(job);
      return outcome == null
          ? new Outcome.Retry("The handler returned null; return an Outcome")
          : outcome;
    } catch (InterruptedException e) {
      // Interrupted by close: given back, not the job's fault.
      return stopping ? new Outcome.Snooze(Duration.ZERO) : new Outcome.Retry("Interrupted");
    } catch (Throwable e) {
      return failed(job.id(), e);
    }
  }

  /** Any throwable, even an Error, fails this run and not the node. */
  private static Outcome failed(JobId id, Throwable thrown) {
    boolean isTheNodes = thrown instanceof VirtualMachineError;
    FailureText.log(isTheNodes ? log.atError() : log.atDebug(), thrown, "Job " + id + " failed");
    return new Outcome.Retry(FailureText.describe(thrown));
  }

  private void settle(Task task, Outcome outcome) {
    if (outcome instanceof Outcome.Done done && done.effects().isPresent()) {
      try {
        if (!completer.completeWith(task, done.effects().get())) {
          log.warn(
              "Result of job {} refused: the job was changed or locked, or its lease was lost",
              task.row.id());
        }
      } catch (Throwable e) {
        completer.add(JobResult.of(task, failed(task.row.id(), e)));
      }
      return;
    }
    completer.add(JobResult.of(task, outcome));
  }

  @Override
  public void close() {
    stopping = true;
    closed.accept(this);
    memory.stop();
    hints.close();
    maintenance.close();
    long deadline = System.nanoTime() + config.stopTimeout().toNanos();
    reader.join(deadline);
    runners.forEach(runner -> runner.join(deadline));
    reader.stop();
    runners.forEach(WorkerThread::stop);
    runners.forEach(WorkerThread::interrupt);
    long end = System.nanoTime() + END.toNanos();
    runners.forEach(runner -> runner.join(end));
    shards.close();
    completer.close(END);
  }
}
