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
import org.jobrunr.server.configuration.BackgroundJobServerWorkerPolicy;
import org.jobrunr.server.strategy.WorkDistributionStrategy;
import org.jobrunr.server.threadpool.JobRunrExecutor;
import org.jobrunr.server.threadpool.PlatformThreadPoolJobRunrExecutor;
import org.jobrunr.storage.Paging;
import org.jobrunr.storage.StorageProvider;
import org.jobrunr.storage.navigation.AmountRequest;
import org.jobrunr.storage.sql.common.SqlStorageProviderFactory;
import org.jspecify.annotations.Nullable;

/** JobRunr: a job is claimed by an update, and marked as succeeded by another. */
final class JobRunrQueue implements JobQueue {
  static final int WORKERS = 16;
  // The shortest that JobRunr accepts.
  private static final Duration POLL = Duration.ofSeconds(5);

  /** The fewest seconds to measure: its speed varies too much between two polls. */
  static final int TWO_POLLS = (int) POLL.toSeconds() * 2;

  // Jobs per fetch; it fetches when fewer than half are left.
  private static final int PAGE = 128;

  private final BenchDatabase database;
  private final StorageProvider storage;
  private boolean readsAhead;

  private JobRunrQueue(BenchDatabase database) {
    this.database = database;
    // Creates its own tables and indexes.
    this.storage = SqlStorageProviderFactory.using(database.pool(), "jobrunr.");
  }

  static JobRunrQueue create(BenchDatabase database) throws SQLException {
    database.execute("CREATE SCHEMA jobrunr");
    return new JobRunrQueue(database);
  }

  /** From now on it fetches more than it has workers for, so that none waits for the next page. */
  JobRunrQueue readingAhead() {
    readsAhead = true;
    return this;
  }

  void clear() throws SQLException {
    database.execute("TRUNCATE jobrunr.jobrunr_jobs");
  }

  /**
   * Fetches ahead. By default a page has as many jobs as there are idle workers, and each worker
   * that becomes idle asks for the next.
   */
  private static final class ReadAhead implements BackgroundJobServerWorkerPolicy {
    private final Workers workers = new Workers();

    private static final class Workers extends PlatformThreadPoolJobRunrExecutor {
      Workers() {
        super(WORKERS);
      }

      int waiting() {
        return executorService.getQueue().size();
      }
    }

    @Override
    public WorkDistributionStrategy toWorkDistributionStrategy(BackgroundJobServer server) {
      return new WorkDistributionStrategy() {
        @Override
        public int getWorkerCount() {
          return WORKERS;
        }

        @Override
        public AmountRequest getWorkPageRequest() {
          return Paging.AmountBasedList.ascOnUpdatedAt(workers.waiting() < PAGE / 2 ? PAGE : 0);
        }
      };
    }

    @Override
    public JobRunrExecutor toJobRunrExecutor() {
      return workers;
    }
  }

  /** A job that does nothing. Public, since it is read back by reflection. */
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
    BackgroundJobServerConfiguration configuration =
        BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration()
            .andPollInterval(POLL);
    configuration =
        readsAhead
            ? configuration.andBackgroundJobServerWorkerPolicy(new ReadAhead())
            : configuration.andWorkerCount(WORKERS);
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
            .useBackgroundJobServer(configuration)
            .initialize()
            .getBackgroundJobServer();
    return server::stop;
  }

  @Override
  public long left() throws SQLException {
    return database.number("SELECT count(*) FROM jobrunr.jobrunr_jobs WHERE state <> 'SUCCEEDED'");
  }
}
