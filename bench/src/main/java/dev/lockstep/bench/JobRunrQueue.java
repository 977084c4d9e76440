package dev.lockstep.bench;

import java.sql.SQLException;
import java.time.Duration;
import java.util.stream.IntStream;
import org.jobrunr.configuration.JobRunr;
import org.jobrunr.jobs.lambdas.JobRequest;
import org.jobrunr.jobs.lambdas.JobRequestHandler;
import org.jobrunr.server.BackgroundJobServer;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.server.JobActivator;
import org.jobrunr.storage.StorageProvider;
import org.jobrunr.storage.sql.common.SqlStorageProviderFactory;
import org.jspecify.annotations.Nullable;

/** JobRunr: a job is claimed by an update, and marked as succeeded by another. */
final class JobRunrQueue implements JobQueue {
  static final int WORKERS = 16;
  // The shortest it takes.
  private static final Duration POLL = Duration.ofSeconds(5);

  /** Seconds to measure at least: what it does between two polls varies too much for less. */
  static final int TWO_POLLS = (int) POLL.toSeconds() * 2;

  private final BenchDatabase database;
  private final StorageProvider storage;

  private JobRunrQueue(BenchDatabase database) {
    this.database = database;
    // Makes its tables and indexes itself.
    this.storage = SqlStorageProviderFactory.using(database.pool(), "jobrunr.");
  }

  static JobRunrQueue create(BenchDatabase database) throws SQLException {
    database.execute("CREATE SCHEMA jobrunr");
    return new JobRunrQueue(database);
  }

  /** A job without anything to do. Public, since it is read back by reflection. */
  public static final class Nothing implements JobRequest {
    public int number;

    @Override
    public Class<Handler> getJobRequestHandler() {
      return Handler.class;
    }
  }

  /** Runs it. */
  public static final class Handler implements JobRequestHandler<Nothing> {
    private final Runnable job;

    Handler(Runnable job) {
      this.job = job;
    }

    @Override
    public void run(Nothing request) {
      job.run();
    }
  }

  @Override
  public void fill(int jobs) {
    JobRunr.configure()
        .useStorageProvider(storage)
        .initialize()
        .getJobRequestScheduler()
        .enqueue(
            IntStream.range(0, jobs)
                .mapToObj(
                    number -> {
                      Nothing request = new Nothing();
                      request.number = number;
                      return request;
                    }));
  }

  @Override
  public AutoCloseable work(Runnable job) {
    BackgroundJobServer server =
        JobRunr.configure()
            .useStorageProvider(storage)
            .useJobActivator(
                new JobActivator() {
                  @Override
                  public <T> @Nullable T activateJob(Class<T> type) {
                    return type == Handler.class ? type.cast(new Handler(job)) : null;
                  }
                })
            .useBackgroundJobServer(
                BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration()
                    .andWorkerCount(WORKERS)
                    .andPollInterval(POLL))
            .initialize()
            .getBackgroundJobServer();
    return server::stop;
  }

  @Override
  public long left() throws SQLException {
    return database.number("SELECT count(*) FROM jobrunr.jobrunr_jobs WHERE state <> 'SUCCEEDED'");
  }
}
