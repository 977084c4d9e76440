package dev.lockstep.bench;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** db-scheduler, polling with lock-and-fetch: a batch is claimed, each job deleted when done. */
final class DbSchedulerQueue implements JobQueue, AutoCloseable {
  private static final String TABLE = "db_scheduler.scheduled_tasks";
  private static final int FILL_BATCH = 10_000;

  private final BenchDatabase database;
  private final HikariDataSource pool;
  private final OneTimeTask<Void> nothing = task(() -> {});
  private final SchedulerClient client;
  private final AtomicLong numbers = new AtomicLong();
  private int threads;

  private DbSchedulerQueue(BenchDatabase database, boolean rewritten) {
    this.database = database;
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(database.url());
    config.addDataSourceProperty("reWriteBatchedInserts", Boolean.toString(rewritten));
    config.setMaximumPoolSize(BenchDatabase.POOL_SIZE);
    this.pool = new HikariDataSource(config);
    this.client = SchedulerClient.Builder.create(pool, nothing).tableName(TABLE).build();
  }

  /** With the table and indexes that its documentation gives for PostgreSQL. */
  static DbSchedulerQueue create(BenchDatabase database) throws SQLException {
    database.execute(
        """
        CREATE SCHEMA db_scheduler;
        CREATE TABLE db_scheduler.scheduled_tasks (
          task_name text NOT NULL,
          task_instance text NOT NULL,
          task_data bytea,
          execution_time timestamptz NOT NULL,
          picked boolean NOT NULL,
          picked_by text,
          last_success timestamptz,
          last_failure timestamptz,
          consecutive_failures int,
          last_heartbeat timestamptz,
          version bigint NOT NULL,
          priority smallint,
          PRIMARY KEY (task_name, task_instance));
        CREATE INDEX execution_time_idx ON db_scheduler.scheduled_tasks (execution_time);
        CREATE INDEX last_heartbeat_idx ON db_scheduler.scheduled_tasks (last_heartbeat)""");
    return new DbSchedulerQueue(database, false);
  }

  /** The same with the driver setting that combines many inserts into one statement. */
  DbSchedulerQueue withRewrittenInserts() {
    return new DbSchedulerQueue(database, true);
  }

  /** Uses this many threads from now on. */
  DbSchedulerQueue with(int workers) {
    threads = workers;
    return this;
  }

  @Override
  public void fill(int jobs) {
    for (int done = 0; done < jobs; done += FILL_BATCH) {
      scheduleBatch(Math.min(FILL_BATCH, jobs - done));
    }
  }

  /** One call and one transaction. */
  void scheduleBatch(int jobs) {
    List<TaskInstance<?>> batch = new ArrayList<>(jobs);
    for (int i = 0; i < jobs; i++) {
      batch.add(nothing.instance(Long.toString(numbers.incrementAndGet())));
    }
    client.scheduleBatch(batch, Instant.now());
  }

  private static OneTimeTask<Void> task(Runnable job) {
    return Tasks.oneTime("nothing").execute((instance, context) -> job.run());
  }

  @Override
  public AutoCloseable work(Runnable job) {
    Scheduler scheduler =
        Scheduler.create(pool, task(job))
            .tableName(TABLE)
            .threads(threads)
            // As its documentation advises for high throughput.
            .pollUsingLockAndFetch(1.0, 4.0)
            .pollingInterval(Duration.ofMillis(100))
            .build();
    scheduler.start();
    return scheduler::stop;
  }

  @Override
  public long left() throws SQLException {
    return database.number("SELECT count(*) FROM " + TABLE);
  }

  void clear() throws SQLException {
    database.execute("TRUNCATE " + TABLE);
  }

  @Override
  public void close() {
    pool.close();
  }
}
