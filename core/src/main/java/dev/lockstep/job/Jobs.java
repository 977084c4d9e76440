package dev.lockstep.job;

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
 * Jobs: enqueue them in your own transaction, and run them on any number of nodes.
 *
 * <p>A method that takes a connection works in the caller's transaction, and the caller commits:
 * the job is there if and only if the rest is. The others commit themselves. Thread-safe.
 */
public final class Jobs {
  public static final int MAX_BATCH = 10_000;

  /** One more than a page of a thousand: the one too many says that there are more. */
  public static final int MAX_PAGE = 1_001;

  private final Transactor transactor;
  private final JobsConfig config;
  private final JobIds ids;
  // Apart, since they carry the database's time, which may be behind this node's.
  private final JobIds scheduleIds;
  private final Enqueuer enqueuer;
  private final History history;
  private final ShardCount shardCount;
  // Told of what is changed here, so that a job that is cancelled on a node never begins on it.
  private final List<Worker> workers = new CopyOnWriteArrayList<>();

  public Jobs(Transactor transactor) {
    this(transactor, JobsConfig.DEFAULT);
  }

  public Jobs(Transactor transactor, JobsConfig config) {
    this.transactor = transactor;
    this.config = config;
    this.ids = new JobIds(config.clock(), config.shards());
    this.scheduleIds = new JobIds(config.clock(), config.shards());
    this.shardCount = Shards.count(JobsConfig.GROUP, config.shards());
    this.enqueuer = new Enqueuer(config, ids, shardCount);
    this.history = new History(transactor, config.historyDays());
  }

  /**
   * Writes a job down. The caller commits.
   *
   * @throws IllegalArgumentException if the payload is too large
   * @throws IllegalStateException if the jobs of this database are spread over another number of
   *     shards than {@link JobsConfig#shards}; so does all that follows
   * @throws dev.lockstep.tx.StatementFailed if the payload is no JSON; roll back then
   */
  public Enqueued enqueue(Connection connection, NewJob job) {
    return enqueueAll(connection, List.of(job)).get(0);
  }

  /**
   * Writes up to {@link #MAX_BATCH} jobs down with one statement. The caller commits.
   *
   * @return what came of each, in their order
   */
  public List<Enqueued> enqueueAll(Connection connection, List<NewJob> jobs) {
    requireAtMost(MAX_BATCH, jobs.size());
    return jobs.isEmpty() ? List.of() : transactor.on(connection, c -> enqueuer.enqueue(c, jobs));
  }

  /**
   * Writes any number of jobs down with COPY, the fastest way there is; without unique keys, and
   * only through PostgreSQL's own driver. The caller commits.
   *
   * @return how many
   */
  public long copy(Connection connection, Iterator<NewJob> jobs) {
    return transactor.on(connection, c -> enqueuer.copy(c, jobs));
  }

  /** Starts a node that runs jobs. Close it. */
  public Worker worker(WorkerConfig workerConfig, Handlers handlers) {
    // What is done today belongs in today's partition; the rest of the upkeep need not come first.
    history.makeAhead();
    Worker worker =
        new Worker(
            transactor, config, ids, workerConfig, handlers, this::maintain, workers::remove);
    workers.add(worker);
    worker.start();
    return worker;
  }

  /** Jobs for those who do them outside any worker, each under a lease of its own. */
  public Claims claims() {
    return new Claims(transactor, config, ids, shardCount);
  }

  /**
   * Jobs that recur.
   *
   * @param reader reads how a schedule recurs from its spec; throws IllegalArgumentException when
   *     it does not understand it. The same on all nodes
   */
  public Schedules schedules(Function<String, Recurrence> reader) {
    return schedules(reader, NewJob::at);
  }

  /**
   * Jobs that recur, each of which is to know more of its occurrence than the job of the schedule
   * says.
   *
   * @param occurrence makes the job of an occurrence from that of the schedule and the instant, at
   *     which it is due whatever this says; the same on all nodes
   */
  public Schedules schedules(
      Function<String, Recurrence> reader, BiFunction<NewJob, Instant, NewJob> occurrence) {
    return new Schedules(
        transactor, scheduleIds, enqueuer, this::changes, reader, occurrence, config.shards());
  }

  /** A job, live, dead or, where history is kept, done. */
  public Optional<Job> find(JobId id) {
    return transactor.call(transactor.defaults().asReadOnly(), c -> JobQueries.find(c, id));
  }

  /** The attempts of a job that failed, in order; of one that is done while history is kept. */
  public List<Job.Attempt> attempts(JobId id) {
    return transactor.call(transactor.defaults().asReadOnly(), c -> JobQueries.attempts(c, id));
  }

  /**
   * A page of jobs, the newest first.
   *
   * @param before the last of the page before
   * @param limit up to {@link #MAX_PAGE}
   */
  public List<Job> list(Job.State state, JobFilter filter, Optional<JobId> before, int limit) {
    requireAtMost(MAX_PAGE, limit);
    return transactor.call(
        transactor.defaults().asReadOnly(),
        c -> {
          shardCount.requireAgreed(c);
          return JobQueries.list(c, config.shards(), Optional.of(state), filter, before, limit);
        });
  }

  /** The same for jobs in whatever state. */
  public List<Job> list(JobFilter filter, Optional<JobId> before, int limit) {
    requireAtMost(MAX_PAGE, limit);
    return transactor.call(
        transactor.defaults().asReadOnly(),
        c -> {
          shardCount.requireAgreed(c);
          return JobQueries.list(c, config.shards(), Optional.empty(), filter, before, limit);
        });
  }

  /** Every queue that has jobs or settings. Counts the table: for people, not for every second. */
  public List<QueueView> queues() {
    return transactor.call(transactor.defaults().asReadOnly(), JobQueries::queues);
  }

  /**
   * Deletes a live job. One that is running may finish, but its result is refused. One that is not
   * does not begin any more: not at all on workers made by this object, and on others no later than
   * a tenth of a second after the commit. The tick of a schedule is refused with {@link
   * EditResult.OfSchedule}, here as in {@link #runAt}, {@link #payload} and {@link #discard}. The
   * caller commits.
   *
   * @param version empty: whatever it is
   */
  public EditResult cancel(Connection connection, JobId id, OptionalInt version) {
    return transactor.on(connection, c -> changes(c).cancel(id, version));
  }

  /**
   * Makes a live job due at once, if it is not: one that is scheduled for later, or waits to be
   * retried. In a lane it keeps its place, or gets an earlier one; it waits for what runs, and is
   * never put behind a job that it was ahead of. One that is due already is left as it is, in its
   * version, too. The tick of a schedule finds nothing due, and waits again. The caller commits.
   *
   * @param version empty: whatever it is
   */
  public EditResult runNow(Connection connection, JobId id, OptionalInt version) {
    return transactor.on(connection, c -> changes(c).runNow(id, version));
  }

  /**
   * Changes when a live job runs. A time that has passed means at once: the job becomes due, and
   * does not lose an earlier place in its lane. One in the future is its new place. The caller
   * commits.
   */
  public EditResult runAt(Connection connection, JobId id, OptionalInt version, Instant at) {
    // The same limits as when it was new.
    NewJob.requireTime(at);
    return transactor.on(connection, c -> changes(c).runAt(id, version, at));
  }

  /** Replaces the payload of a live job. The caller commits. */
  public EditResult payload(Connection connection, JobId id, OptionalInt version, String payload) {
    enqueuer.requirePayload(payload);
    return transactor.on(connection, c -> changes(c).payload(id, version, payload));
  }

  /**
   * Brings a dead letter back, with all its attempts before it. Those that failed stay recorded,
   * and later ones are numbered on from them. The caller commits.
   */
  public boolean replay(Connection connection, JobId id) {
    return transactor.on(connection, c -> dead(c).replay(Optional.of(id), JobFilter.ALL, 1) == 1);
  }

  /**
   * Brings back all dead letters that match, up to a limit, as {@link #replay} does. The caller
   * commits.
   *
   * @return how many
   */
  public int replayAll(Connection connection, JobFilter filter, int limit) {
    requireAtMost(MAX_BATCH, limit);
    return transactor.on(connection, c -> dead(c).replay(Optional.empty(), filter, limit));
  }

  /**
   * Removes dead letters that match and have been dead for so long, with the errors of their
   * attempts, up to a limit. Nothing else does: they are kept until somebody has looked at them.
   * Ticks of schedules stay: replay them, or change or delete their schedule. The caller commits.
   *
   * @return how many
   */
  public int removeDead(Connection connection, JobFilter filter, Duration olderThan, int limit) {
    requireAtMost(MAX_BATCH, limit);
    if (olderThan.isNegative() || olderThan.compareTo(JobsConfig.LONGEST) > 0) {
      throw new IllegalArgumentException("olderThan is 0 to ten years");
    }
    return transactor.on(connection, c -> dead(c).removeDead(filter, olderThan, limit));
  }

  /**
   * Deletes jobs that match, up to a limit: live ones as {@link #cancel} does, dead letters for
   * good. Ticks of schedules stay, which end with their schedule. The caller commits.
   *
   * @param state empty: live ones and dead letters
   * @return how many
   */
  public int cancelAll(
      Connection connection, Optional<Job.State> state, JobFilter filter, int limit) {
    requireAtMost(MAX_BATCH, limit);
    return transactor.on(connection, c -> changes(c).cancelAll(state, filter, limit));
  }

  /** How many {@link #cancelAll} would delete now, counted up to a limit. The caller commits. */
  public int countCancellable(
      Connection connection, Optional<Job.State> state, JobFilter filter, int limit) {
    return transactor.on(connection, c -> changes(c).countCancellable(state, filter, limit));
  }

  /** How many {@link #replayAll} would bring back now, counted up to a limit. */
  public int countDead(Connection connection, JobFilter filter, int limit) {
    return transactor.on(connection, c -> dead(c).countDead(filter, limit));
  }

  /** Removes a dead letter for good, with the errors of its attempts. The caller commits. */
  public EditResult discard(Connection connection, JobId id) {
    return transactor.on(connection, c -> dead(c).discard(id));
  }

  /** Nothing more of the queue is begun, on any node, as soon as each has heard of it. */
  public void pause(String queue) {
    Names.require("A queue", queue);
    transactor.run(c -> changes(c).setPaused(queue, true));
  }

  public void resume(String queue) {
    Names.require("A queue", queue);
    transactor.run(c -> changes(c).setPaused(queue, false));
  }

  /**
   * Limits how many jobs of a queue begin in a second, over all nodes: each node has the part of it
   * that is its part of the shards.
   *
   * @param perSecond empty: no limit
   */
  public void limitRate(String queue, OptionalDouble perSecond) {
    Names.require("A queue", queue);
    double rate = perSecond.orElse(0);
    if (perSecond.isPresent() && !(rate > 0 && rate <= 1_000_000)) {
      throw new IllegalArgumentException("A rate is more than 0 and up to a million a second");
    }
    transactor.run(c -> changes(c).setRate(queue, rate));
  }

  /**
   * Makes history's partitions for the days to come, drops old ones with the attempts of their
   * jobs, and removes unique keys whose period has passed. A partition that somebody reads at the
   * moment, as a dump does, is left for another time. Every worker does so when it starts and once
   * an hour; several may at once.
   */
  public void maintain() {
    maintain(() -> true);
  }

  private boolean maintain(BooleanSupplier goOn) {
    boolean made = history.makeAhead();
    boolean dropped = history.dropOld(goOn);
    while (goOn.getAsBoolean()
        && transactor.call(Housekeeping::removeKeys) == Housekeeping.removalBatch()) {
      // Small transactions, until none is left.
    }
    while (goOn.getAsBoolean()
        && config.historyDays() > 0
        && transactor.call(c -> Housekeeping.removeAttempts(c, config.historyDays()))
            == Housekeeping.removalBatch()) {
      // Likewise.
    }
    return made && dropped;
  }

  private JobChanges changes(Connection connection) {
    return new JobChanges(
        connection, config, ids, shardCount, changed -> workers.forEach(w -> w.doubt(changed)));
  }

  private DeadLetters dead(Connection connection) {
    return new DeadLetters(connection, config);
  }

  private static void requireAtMost(int max, int actual) {
    if (actual > max || actual < 0) {
      throw new IllegalArgumentException("At most %d at a time".formatted(max));
    }
  }
}
