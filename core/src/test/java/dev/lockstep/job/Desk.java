package dev.lockstep.job;

import dev.lockstep.shard.Lease;
import dev.lockstep.shard.ShardListener;
import dev.lockstep.shard.Shards;
import dev.lockstep.shard.ShardsConfig;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Jobs on a table that is empty before each test, and the workers of the test. */
final class Desk implements BeforeEachCallback, AfterEachCallback {
  static final int SHARDS = 8;
  static final String QUEUE = "mail";
  static final String KIND = "send";

  /** Leases that never pass during a test; where one has to, {@link #age} makes it. */
  static final Duration LONG = Duration.ofMinutes(10);

  private final TestDatabase database;
  private final List<Worker> workers = new ArrayList<>();

  /** What ran, by payload, in the order it ended. */
  final Queue<String> ran = new ConcurrentLinkedQueue<>();

  Desk(TestDatabase database) {
    this.database = database;
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    ran.clear();
    database.execute(
        """
        TRUNCATE lockstep.job, lockstep.job_away, lockstep.job_unique, lockstep.job_attempt, lockstep.job_dead,
          lockstep.job_queue, lockstep.job_history, lockstep.job_claim, lockstep.job_claim_queue,
          lockstep.job_worker_queue, lockstep.shard_member, lockstep.shard,
          lockstep.shard_group;
        CREATE TABLE IF NOT EXISTS effect (name text NOT NULL);
        TRUNCATE effect;
        """);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    workers.forEach(Worker::close);
    workers.clear();
  }

  Transactor transactor() {
    return new Transactor(database.dataSource());
  }

  static JobsConfig config() {
    return JobsConfig.DEFAULT.withShards(SHARDS);
  }

  Jobs jobs() {
    return new Jobs(transactor(), config());
  }

  Jobs jobs(Clock clock) {
    return new Jobs(transactor(), config().withClock(clock));
  }

  static QueueConfig queue(int concurrency) {
    return QueueConfig.of(QUEUE, concurrency)
        .withBackoff(Duration.ofMillis(2), Duration.ofMillis(5));
  }

  static WorkerConfig worker(int concurrency) {
    return WorkerConfig.named("test")
        .withQueue(queue(concurrency))
        .withLease(LONG, Duration.ofMillis(20))
        .withPollInterval(Duration.ofMillis(20));
  }

  Worker start(int concurrency, JobHandler<String> handler) {
    return start(jobs(), worker(concurrency), handler);
  }

  Worker start(Jobs jobs, WorkerConfig config, JobHandler<String> handler) {
    Worker worker = jobs.worker(config, Handlers.none().on(KIND, handler));
    workers.add(worker);
    return worker;
  }

  /** A worker whose jobs' moves are observed. */
  void startObserved(WorkerConfig config, JobHandler<String> handler, TaskState.Observer observer) {
    JobsConfig jobs = config();
    Worker worker =
        new Worker(
            transactor(),
            jobs,
            new JobIds(jobs.clock(), jobs.shards()),
            config,
            Handlers.none().on(KIND, handler),
            goOn -> true,
            closed -> {},
            observer);
    workers.add(worker);
    worker.start();
  }

  /** Notes what it ran, and is done. */
  Outcome note(String payload, JobContext job) {
    ran.add(payload);
    return Outcome.done();
  }

  /** Writes its name in the transaction that completes the job. */
  static Outcome effect(String payload, JobContext job) {
    return Outcome.Done.writing(
        connection -> Sql.execute(connection, "INSERT INTO effect VALUES (?)", payload));
  }

  static NewJob job(Object payload) {
    return NewJob.of(QUEUE, KIND, payload.toString());
  }

  JobId enqueue(NewJob job) {
    return ((EnqueueResult.Created) tryEnqueue(job)).id();
  }

  EnqueueResult tryEnqueue(NewJob job) {
    return transactor().call(connection -> jobs().enqueue(connection, job));
  }

  /** Jobs with the payloads 0, 1, 2 … */
  void enqueueMany(int count) {
    Jobs jobs = jobs();
    transactor()
        .run(
            connection -> {
              for (int from = 0; from < count; from += Jobs.MAX_BATCH) {
                List<NewJob> batch = new ArrayList<>();
                for (int i = from; i < Math.min(count, from + Jobs.MAX_BATCH); i++) {
                  batch.add(job(i));
                }
                jobs.enqueueAll(connection, batch);
              }
            });
  }

  long live() {
    return database.queryLong("SELECT count(*) FROM lockstep.job");
  }

  void awaitNoneLive() {
    Await.until("no live job", () -> live() == 0);
  }

  List<String> effects() {
    return database.query("SELECT name FROM effect", row -> row.getString(1));
  }

  /** How many nodes of this name are alive. */
  long members(String node) {
    return database.queryLong(
        "SELECT count(*) FROM lockstep.shard_member WHERE node = ? AND expires_at > now()", node);
  }

  /** Lets the leases of all nodes of this name pass. */
  void age(String node) {
    database.execute(
        "UPDATE lockstep.shard_member SET expires_at = now() WHERE node = '" + node + "'");
  }

  /** With all shards owned, and nothing done about it. */
  void withLease(JobId id, BiConsumer<Lease, Shards> test) {
    ShardsConfig config =
        ShardsConfig.of(JobsConfig.GROUP, "test")
            .withShards(SHARDS)
            .withLease(LONG, Duration.ofMillis(20));
    try (Shards shards = new Shards(transactor(), config, new Quiet())) {
      shards.start();
      Await.until("all are ours", () -> shards.owned().size() == SHARDS);
      test.accept(
          shards.owned().stream().filter(one -> one.shard() == id.shard()).findAny().orElseThrow(),
          shards);
    }
  }

  /** The first job of a shard, as its owner reads it. */
  Task read(Lease lease) {
    QueueState queue =
        new QueueState(queue(1), new ReentrantLock().newCondition(), TaskState.Observer.NONE);
    JobStream stream = new JobStream(lease, queue, Priority.NORMAL);
    JobReads.ReadPlan first =
        new JobReads.ReadPlan(List.of(new JobStream.StreamRead(stream, 1)), List.of());
    JobReads.TableRead table = new JobReads(transactor(), JobsListener.NONE).read(first);
    return new Task(table.due().get(0).rows().get(0), stream, System.nanoTime());
  }

  /** Marks a job as running here. */
  Set<JobId> mark(Task task) {
    return transactor().call(c -> new RowMarks(c).mark(task.lease, List.of(task)));
  }

  Set<JobId> results(ResultsWork work) {
    JobIds ids = new JobIds(Clock.systemUTC(), SHARDS);
    return transactor().call(c -> work.on(new ResultBatch(c, config(), ids)));
  }

  /** Something that is done to results. */
  interface ResultsWork {
    Set<JobId> on(ResultBatch results) throws SQLException;
  }

  /** Owns shards and does nothing about it. */
  private static final class Quiet implements ShardListener {
    @Override
    public void taken(Lease lease) {}

    @Override
    public CompletionStage<?> handOver(Lease lease) {
      return CompletableFuture.completedStage(null);
    }

    @Override
    public void lost(Lease lease) {}
  }
}
