package dev.lockstep.job;

import dev.lockstep.job.JobReads.Look;
import dev.lockstep.job.JobReads.QueueRow;
import dev.lockstep.job.Results.Ended;
import dev.lockstep.shard.Lease;
import dev.lockstep.shard.ShardListener;
import dev.lockstep.shard.ShardOwner;
import dev.lockstep.shard.Shards;
import dev.lockstep.tx.HintListener;
import dev.lockstep.tx.LockstepException;
import dev.lockstep.tx.Transactor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node that runs jobs: it owns a share of the shards, reads what is due in them, runs it and
 * writes the results.
 *
 * <p>Made by {@link Jobs#worker}. Runs handlers on threads of its own, up to each queue's
 * concurrency; heartbeats come from another thread, so a handler may take as long as it likes.
 * {@link #close} begins nothing more, waits for what is running and hands the shards over; what is
 * still running when its time is up is interrupted, and run again by another node. Thread-safe.
 */
public final class Worker implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Worker.class);
  private static final Duration END = Duration.ofSeconds(10);
  private static final long PAUSE_NANOS = 100_000_000L;

  private final WorkerConfig config;
  private final JobsConfig jobsConfig;
  private final Handlers handlers;
  private final Board board;
  private final JobReads reads;
  private final Completer completer;
  private final Recovery recovery;
  private final Shards shards;
  private final HintListener hints;
  private final Thread reader;
  private final List<Thread> runners = new ArrayList<>();
  // A job that was there at two crashes runs without another such beside it.
  private final Semaphore dangerous = new Semaphore(1, true);
  private final Maintenance maintenance;
  private long markedNanos = System.nanoTime();
  private volatile boolean stopping;

  Worker(
      Transactor transactor,
      JobsConfig jobsConfig,
      JobIds ids,
      WorkerConfig config,
      Handlers handlers,
      Maintenance.Round maintenance) {
    this.config = config;
    this.jobsConfig = jobsConfig;
    this.handlers = handlers;
    this.maintenance = new Maintenance(maintenance);
    this.board = new Board(config.queues());
    this.reads = new JobReads(transactor);
    this.completer = new Completer(transactor, jobsConfig, ids, board, config.completionBatch());
    this.shards = new Shards(transactor, config.shards(jobsConfig.shards()), new Shift());
    this.recovery = new Recovery(transactor, shards, ids, config.maxCrashes());
    this.hints = new HintListener(config.listen(), JobsConfig.CHANNEL, "job-hints", board::hint);
    this.reader = thread("job-reader", this::readAndOffer);
    for (QueueConfig queue : config.queues()) {
      for (int i = 0; i < queue.concurrency(); i++) {
        runners.add(thread("job-" + queue.name() + "-" + i, () -> runJobs(queue)));
      }
    }
  }

  private static Thread thread(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  void start() {
    completer.start();
    runners.forEach(Thread::start);
    reader.start();
    hints.start();
    shards.start();
    maintenance.start();
  }

  /** The shards this node owns, as far as it knows. */
  public int ownedShards() {
    return board.shardCount();
  }

  /** Who owns which shard, as the database has it. */
  public List<ShardOwner> owners() {
    return shards.owners();
  }

  /** Looks at the table at once, instead of with the next hint or poll. */
  public void wake() {
    board.hint();
  }

  /** What happens when shards come and go. */
  private final class Shift implements ShardListener {
    @Override
    public void taken(Lease lease) {
      while (!lease.handedOver() && lease.isLive()) {
        try {
          recovery.suspectWhatMayHaveRun(lease);
          break;
        } catch (LockstepException e) {
          log.warn("Not yet looked after what was cut off in {}: {}", lease, e.toString());
          LockSupport.parkNanos(this, PAUSE_NANOS);
        }
      }
      board.addShard(lease);
    }

    @Override
    public CompletionStage<?> handOver(Lease lease) {
      // What runs goes on, and keeps the right to its own result.
      return completer.keep(lease, board.removeShard(lease, false));
    }

    @Override
    public void lost(Lease lease) {
      board.removeShard(lease, true);
    }
  }

  private void readAndOffer() {
    try {
      while (board.awaitReason(config.pollInterval().toMillis())) {
        try {
          read();
        } catch (LockstepException e) {
          log.warn("Could not read what is due: {}", e.toString());
          board.wakeIn(config.pollInterval().toMillis());
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void read() {
    List<JobStream.Ask> asks = board.startRead();
    Look look = reads.look(asks);
    Map<String, QueueRow> settings = new HashMap<>();
    look.queues().forEach(row -> settings.put(row.queue(), row));
    double share = (double) board.shardCount() / jobsConfig.shards();
    for (QueueConfig queue : config.queues()) {
      QueueRow row = settings.getOrDefault(queue.name(), new QueueRow(queue.name(), false, 0));
      board.setQueue(queue.name(), row.paused(), row.rate() * share);
    }
    List<List<JobRow>> due = new ArrayList<>();
    for (int i = 0; i < asks.size(); i++) {
      due.add(withoutTheLost(asks.get(i), look.due().get(i)));
    }
    board.offer(asks, due, look.at());
    markLongRunning();
    look.nextMs().ifPresent(board::wakeIn);
  }

  /**
   * A job that runs for long says so in its row: people can see it, and should this node die, it is
   * known to have been running. Short ones, nearly all, are spared the write.
   */
  private void markLongRunning() {
    long now = System.nanoTime();
    if (now - markedNanos < config.markAfter().toNanos() / 2) {
      return;
    }
    markedNanos = now;
    board
        .longRunning(config.markAfter().toNanos())
        .forEach(
            (lease, tasks) -> {
              completer.mark(lease, tasks);
              board.marked(tasks);
            });
  }

  /** Rows that say who runs them, when that node is gone, are counted first and read again. */
  private List<JobRow> withoutTheLost(JobStream.Ask ask, List<JobRow> rows) {
    // This very node is not gone, and need not ask.
    UUID self = ask.stream().lease.member();
    List<JobRow> marked =
        rows.stream().filter(row -> row.keeper() != null && !self.equals(row.keeper())).toList();
    if (marked.isEmpty()) {
      return rows;
    }
    List<JobRow> lost = recovery.countTheLost(ask.stream().lease, marked);
    if (lost.size() < marked.size()) {
      board.wakeIn(config.pollInterval().toMillis());
    }
    if (lost.isEmpty()) {
      return rows;
    }
    board.hint();
    // Nothing behind them may overtake them: only what comes before the first.
    return rows.subList(0, rows.indexOf(lost.get(0)));
  }

  private void runJobs(QueueConfig queue) {
    QueueState state = board.queue(queue.name());
    try {
      while (true) {
        var next = board.next(state);
        if (next.isEmpty()) {
          return;
        }
        run(queue, next.get());
      }
    } catch (InterruptedException e) {
      log.debug("Stopped", e);
    }
  }

  private void run(QueueConfig queue, Task task) throws InterruptedException {
    JobRow row = task.row;
    boolean alone = row.crashes() > 1;
    if (alone) {
      dangerous.acquire();
    }
    try {
      if (row.crashes() > 0 && !marked(task)) {
        board.settled(task);
        board.hint();
        return;
      }
      JobContext job =
          new JobContext(
              row.id(),
              row.queue(),
              row.kind(),
              row.payload(),
              row.due(),
              row.attempts() + 1,
              task::holdsLease);
      settle(queue, task, outcomeOf(job));
    } finally {
      if (alone) {
        dangerous.release();
      }
    }
  }

  private boolean marked(Task task) {
    try {
      return completer.mark(task);
    } catch (LockstepException e) {
      log.warn("Job {} is not begun: {}", task.row.id(), e.toString());
      return false;
    }
  }

  private Outcome outcomeOf(JobContext job) {
    try {
      return handlers.run(job);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      // Stopped in the middle by close: given back, and not its fault.
      return stopping ? new Outcome.Snooze(Duration.ZERO) : new Outcome.Retry("Interrupted");
    } catch (Exception | LinkageError | StackOverflowError | AssertionError e) {
      log.debug("Job {} failed", job.id(), e);
      return new Outcome.Retry(e.toString());
    }
  }

  private void settle(QueueConfig queue, Task task, Outcome outcome) {
    if (outcome instanceof Outcome.Done done && done.effects().isPresent()) {
      try {
        if (!completer.completeWith(task, done.effects().get())) {
          log.warn("The result of job {} is refused: changed, or no longer ours", task.row.id());
        }
        return;
      } catch (RuntimeException e) {
        log.debug("The effects of job {} failed", task.row.id(), e);
        completer.add(ended(queue, task, new Outcome.Retry(e.toString())));
        return;
      }
    }
    completer.add(ended(queue, task, outcome));
  }

  private static Ended ended(QueueConfig queue, Task task, Outcome outcome) {
    return new Ended(
        task,
        outcome,
        outcome instanceof Outcome.Retry
            ? queue.backoffAfter(task.row.attempts() + 1)
            : Duration.ZERO);
  }

  @Override
  public void close() {
    stopping = true;
    board.stop();
    hints.close();
    maintenance.close();
    long deadline = System.nanoTime() + config.stopTimeout().toNanos();
    join(reader, deadline);
    runners.forEach(runner -> join(runner, deadline));
    runners.forEach(Thread::interrupt);
    long end = System.nanoTime() + END.toNanos();
    runners.forEach(runner -> join(runner, end));
    shards.close();
    completer.close(END);
  }

  private static void join(Thread thread, long deadlineNanos) {
    if (!thread.isAlive()) {
      return;
    }
    try {
      TimeUnit.NANOSECONDS.timedJoin(
          thread, Math.max(1_000_000, deadlineNanos - System.nanoTime()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
