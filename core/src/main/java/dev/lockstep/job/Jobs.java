package dev.lockstep.job;

import static java.util.Objects.requireNonNull;

import dev.lockstep.shard.ShardCount;
import dev.lockstep.shard.Shards;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * The entry type of the jobs block: enqueue jobs in your own transaction, run them on any number of
 * nodes.
 *
 * <p>A method that takes a connection works in the caller's transaction and the caller commits, so
 * the job exists if and only if the rest of the transaction does. All other methods run and commit
 * their own transactions, or join the one that the thread is in ({@link Transactor#call}).
 * Thread-safe.
 */
public final class Jobs {
  public static final int MAX_BATCH = 10_000;

  /** A page of a thousand plus one, so that the caller can tell whether there are more. */
  public static final int MAX_PAGE = 1_001;

  private final Transactor transactor;
  private final JobsConfig config;
  private final JobIds ids;
  // Separate, because these ids carry the database's time, which may be behind this node's.
  private final JobIds scheduleIds;
  private final Enqueuer enqueuer;
  private final History history;
  private final ShardCount shardCount;
  // Told of changes made here, so that a job cancelled on this node never begins on it.
  private final List<Worker> workers = new CopyOnWriteArrayList<>();
  // The same object every time, so that it runs once per transaction.
  private final Runnable wakePolling = this::wakePolling;

  public Jobs(Transactor transactor) {
    this(transactor, JobsConfig.DEFAULT);
  }

  public Jobs(Transactor transactor, JobsConfig config) {
    this.transactor = requireNonNull(transactor, "transactor is null");
    this.config = requireNonNull(config, "config is null; pass JobsConfig.DEFAULT");
    this.ids = new JobIds(config.clock(), config.shards());
    this.scheduleIds = new JobIds(config.clock(), config.shards());
    this.shardCount = Shards.count(JobsConfig.GROUP, config.shards());
    this.enqueuer = new Enqueuer(config, ids, shardCount);
    this.history = new History(transactor, config.historyDays());
  }

  /**
   * Enqueues a job. The caller commits.
   *
   * @throws IllegalArgumentException if the payload is too large
   * @throws IllegalStateException if the database's jobs are spread over another number of shards
   *     than {@link JobsConfig#shards}. The other methods that depend on the shard throw this too
   * @throws dev.lockstep.fault.StatementFailed if the payload is not JSON; roll back then
   */
  public EnqueueResult enqueue(Connection connection, NewJob job) {
    return enqueueAll(connection, List.of(requireNonNull(job, "job is null"))).get(0);
  }

  /**
   * Enqueues up to {@link #MAX_BATCH} jobs with one insert. The caller commits.
   *
   * @return one result per job, in their order
   */
  public List<EnqueueResult> enqueueAll(Connection connection, List<NewJob> jobs) {
    requireNonNull(connection, "connection is null");
    requireAtMost(MAX_BATCH, requireNonNull(jobs, "jobs is null").size());
    if (jobs.isEmpty()) {
      return List.of();
    }
    List<EnqueueResult> results = transactor.join(connection, c -> enqueuer.enqueue(c, jobs));
    wakeAfterCommit();
    return results;
  }

  /**
   * Enqueues any number of jobs with COPY, the fastest way. Jobs must have no unique key, and the
   * connection must come from PostgreSQL's own driver. The caller commits.
   *
   * @return how many
   */
  public long copy(Connection connection, Iterator<NewJob> jobs) {
    long copied = transactor.join(connection, c -> enqueuer.copy(c, jobs));
    wakeAfterCommit();
    return copied;
  }

  private void wakePolling() {
    workers.stream().filter(Worker::polls).forEach(Worker::wake);
  }

  /** Workers of this object that get no notifications need not wait for their next poll. */
  private void wakeAfterCommit() {
    if (workers.stream().anyMatch(Worker::polls)) {
      boolean unused = transactor.afterCommit(wakePolling);
    }
  }

  /** Starts a worker, which runs jobs on this node. The caller closes it. */
  public Worker worker(WorkerConfig workerConfig, Handlers handlers) {
    // Jobs done today belong in today's partition; the rest of the maintenance can wait.
    history.makeAhead();
    Worker worker =
        new Worker(
            transactor,
            config,
            ids,
            workerConfig,
            handlers,
            this::maintain,
            workers::remove,
            TaskState.Observer.NONE);
    workers.add(worker);
    worker.start();
    return worker;
  }

  /** Gives access to jobs for programs outside any worker, under one lease per job. */
  public Claims claims() {
    return new Claims(transactor, config, ids, shardCount);
  }

  /**
   * Gives access to recurring jobs.
   *
   * @param reader parses a schedule's spec; throws IllegalArgumentException if it cannot. Must be
   *     the same on all nodes
   */
  public Schedules schedules(Function<String, Recurrence> reader) {
    return schedules(reader, NewJob::at);
  }

  /**
   * Gives access to recurring jobs whose content depends on the occurrence.
   *
   * @param occurrence makes an occurrence's job from the schedule's job and the instant; the job is
   *     due at that instant in any case. Must be the same on all nodes
   */
  public Schedules schedules(
      Function<String, Recurrence> reader, BiFunction<NewJob, Instant, NewJob> occurrence) {
    return new Schedules(
        transactor, scheduleIds, enqueuer, this::changes, reader, occurrence, config.shards());
  }

  /** Finds a job: live, dead or, while history is kept, done. */
  public Optional<Job> find(JobId id) {
    return transactor.call(transactor.defaults().asReadOnly(), c -> JobQueries.find(c, id));
  }

  /**
   * Lists a job's failed attempts, in order. Those of a done job exist only while history is kept.
   */
  public List<Job.Attempt> attempts(JobId id) {
    return transactor.call(transactor.defaults().asReadOnly(), c -> JobQueries.attempts(c, id));
  }

  /**
   * Lists jobs in one state, the newest first.
   *
   * @param before the last job of the previous page
   * @param limit up to {@link #MAX_PAGE}
   */
  public List<Job> list(JobState state, JobFilter filter, Optional<JobId> before, int limit) {
    return list(Optional.of(state), filter, before, limit, true);
  }

  /** Lists jobs in any state, the newest first. */
  public List<Job> list(JobFilter filter, Optional<JobId> before, int limit) {
    return list(Optional.empty(), filter, before, limit, true);
  }

  /**
   * Lists jobs, the newest first, without their payloads, which may be large: {@code payload()} is
   * the JSON text {@code null}.
   *
   * @param state empty: in any state
   */
  public List<Job> overview(
      Optional<JobState> state, JobFilter filter, Optional<JobId> before, int limit) {
    return list(state, filter, before, limit, false);
  }

  private List<Job> list(
      Optional<JobState> state,
      JobFilter filter,
      Optional<JobId> before,
      int limit,
      boolean withPayload) {
    requireAtMost(MAX_PAGE, limit);
    return transactor.call(
        transactor.defaults().asReadOnly(),
        c -> {
          shardCount.requireAgreed(c);
          return JobQueries.list(c, config.shards(), state, filter, before, limit, withPayload);
        });
  }

  /**
   * Lists every queue that has jobs or settings. Counts whole tables: meant for people, not for
   * frequent polling.
   */
  public List<QueueView> queues() {
    return transactor.call(transactor.defaults().asReadOnly(), JobQueries::queues);
  }

  /**
   * Deletes a live job. If it is running, it may finish, but its result is refused. If not, it does
   * not begin any more: never on workers made by this object, and on others no later than a tenth
   * of a second after the commit. A schedule's tick is refused with {@link EditResult.OfSchedule},
   * here and in {@link #runAt}, {@link #payload} and {@link #discard}. The caller commits.
   *
   * @param version the expected version; empty: any
   */
  public EditResult cancel(Connection connection, JobId id, OptionalInt version) {
    return transactor.join(connection, c -> changes(c).cancel(id, version));
  }

  /**
   * Makes a live job due at once if it is scheduled for later or waits for a retry. In a lane it
   * keeps its place or gets an earlier one, and still waits for the jobs that run. A job that is
   * already due is left unchanged, version included. A schedule's tick may run early; it then
   * enqueues nothing and waits again. The caller commits.
   *
   * @param version the expected version; empty: any
   */
  public EditResult runNow(Connection connection, JobId id, OptionalInt version) {
    return transactor.join(connection, c -> changes(c).runNow(id, version));
  }

  /**
   * Changes when a live job runs. A past time makes it due at once, and it keeps an earlier place
   * in its lane. A future time becomes its new place. The caller commits.
   */
  public EditResult runAt(Connection connection, JobId id, OptionalInt version, Instant at) {
    // The limits of a new job apply.
    NewJob.requireTime(at);
    return transactor.join(connection, c -> changes(c).runAt(id, version, at));
  }

  /** Replaces the payload of a live job. The caller commits. */
  public EditResult payload(Connection connection, JobId id, OptionalInt version, String payload) {
    enqueuer.requirePayload(payload);
    return transactor.join(connection, c -> changes(c).payload(id, version, payload));
  }

  /**
   * Brings a dead letter back with all its attempts available again. Recorded attempts stay, and
   * later ones continue their numbering. The caller commits.
   *
   * @return false if there is no such dead letter, or another transaction has locked it
   */
  public boolean replay(Connection connection, JobId id) {
    return transactor.join(connection, c -> dead(c).replay(Optional.of(id), JobFilter.ALL, 1) == 1);
  }

  /**
   * Brings back the dead letters that match, up to a limit, as {@link #replay} does. The caller
   * commits.
   *
   * @return how many
   */
  public int replayAll(Connection connection, JobFilter filter, int limit) {
    requireAtMost(MAX_BATCH, limit);
    return transactor.join(connection, c -> dead(c).replay(Optional.empty(), filter, limit));
  }

  /**
   * Removes matching dead letters that have been dead this long, with their attempts, up to a
   * limit. Dead letters are never removed automatically. Skips ticks of schedules: replay them, or
   * change or delete their schedule. The caller commits.
   *
   * @return how many
   */
  public int removeDead(Connection connection, JobFilter filter, Duration olderThan, int limit) {
    requireAtMost(MAX_BATCH, limit);
    if (olderThan.isNegative() || olderThan.compareTo(JobsConfig.LONGEST) > 0) {
      throw new IllegalArgumentException("olderThan must be 0 to ten years");
    }
    return transactor.join(connection, c -> dead(c).removeDead(filter, olderThan, limit));
  }

  /**
   * Deletes the jobs that match, up to a limit: live jobs as {@link #cancel} does, dead letters for
   * good. Skips ticks, which end with their schedule. The caller commits.
   *
   * @param state empty: live jobs and dead letters
   * @return how many
   */
  public int cancelAll(
      Connection connection, Optional<JobState> state, JobFilter filter, int limit) {
    requireAtMost(MAX_BATCH, limit);
    return transactor.join(connection, c -> changes(c).cancelAll(state, filter, limit));
  }

  /** Counts what {@link #cancelAll} would delete now, up to a limit. */
  public int countCancellable(
      Connection connection, Optional<JobState> state, JobFilter filter, int limit) {
    return transactor.join(connection, c -> changes(c).countCancellable(state, filter, limit));
  }

  /** Counts what {@link #replayAll} would bring back now, up to a limit. */
  public int countDead(Connection connection, JobFilter filter, int limit) {
    return transactor.join(connection, c -> dead(c).countDead(filter, limit));
  }

  /** Removes a dead letter and its attempts for good. The caller commits. */
  public EditResult discard(Connection connection, JobId id) {
    return transactor.join(connection, c -> dead(c).discard(id));
  }

  /** Pauses a queue: no more of its jobs begin, on each node as soon as it reads the setting. */
  public void pause(String queue) {
    NameRule.require("A queue", queue);
    transactor.run(c -> changes(c).setPaused(queue, true));
  }

  public void resume(String queue) {
    NameRule.require("A queue", queue);
    transactor.run(c -> changes(c).setPaused(queue, false));
  }

  /**
   * Limits how many jobs of a queue begin per second, over all nodes. Each worker gets the part
   * that matches its share of the shards.
   *
   * @param perSecond empty: no limit
   */
  public void limitRate(String queue, OptionalDouble perSecond) {
    NameRule.require("A queue", queue);
    double rate = perSecond.orElse(0);
    if (perSecond.isPresent() && !(rate > 0 && rate <= 1_000_000)) {
      throw new IllegalArgumentException("perSecond must be more than 0 and at most a million");
    }
    transactor.run(c -> changes(c).setRate(queue, rate));
  }

  /**
   * Makes history partitions for the next days, drops old ones with the attempts of their jobs, and
   * removes expired unique keys and the locks of queues that nobody claims from. A partition that
   * is being read, by a dump for example, is left for the next run. Every worker calls this at its
   * start and once per hour; several may run at once.
   */
  public void maintain() {
    maintain(() -> true);
  }

  private boolean maintain(BooleanSupplier mayContinue) {
    boolean made = history.makeAhead();
    boolean dropped = history.dropOld(mayContinue);
    while (mayContinue.getAsBoolean()
        && transactor.call(Housekeeping::removeKeys) == Housekeeping.removalBatch()) {
      // Small transactions, until none is left.
    }
    while (mayContinue.getAsBoolean()
        && config.historyDays() > 0
        && transactor.call(c -> Housekeeping.removeAttempts(c, config.historyDays()))
            == Housekeeping.removalBatch()) {
      // Likewise.
    }
    while (mayContinue.getAsBoolean()
        && transactor.call(ClaimQueues::removeIdle) == ClaimQueues.REMOVAL_BATCH) {
      // Likewise.
    }
    return made && dropped;
  }

  private JobChanges changes(Connection connection) {
    return new JobChanges(
        connection, config, ids, shardCount, changed -> workers.forEach(w -> w.changed(changed)));
  }

  private DeadLetters dead(Connection connection) {
    return new DeadLetters(connection, config);
  }

  private static void requireAtMost(int max, int actual) {
    if (actual > max || actual < 0) {
      throw new IllegalArgumentException(
          "A call is limited to %d jobs; use several calls".formatted(max));
    }
  }
}
