package dev.lockstep.bench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.utils.ConnectionProvider;
import org.quartz.utils.DBConnectionManager;

/** Quartz with its JDBC store, clustered: triggers are acquired, fired and deleted. */
final class QuartzQueue implements JobQueue {
  static final int THREADS = 10;
  private static final String DATA_SOURCE = "bench";
  private static final int FILL_BATCH = 1_000;

  private final BenchDatabase database;
  private long fills;

  private QuartzQueue(BenchDatabase database) {
    this.database = database;
    DBConnectionManager.getInstance().addConnectionProvider(DATA_SOURCE, new Pooled(database));
  }

  private record Pooled(BenchDatabase database) implements ConnectionProvider {
    @Override
    public Connection getConnection() throws SQLException {
      return database.pool().getConnection();
    }

    @Override
    public void shutdown() {}

    @Override
    public void initialize() {}
  }

  /** With the tables that Quartz ships. */
  static QuartzQueue create(BenchDatabase database) throws SQLException, IOException {
    String path = "/org/quartz/impl/jdbcjobstore/tables_postgres.sql";
    try (InputStream script = QuartzQueue.class.getResourceAsStream(path);
        Connection connection = database.direct().getConnection();
        Statement statement = connection.createStatement()) {
      if (script == null) {
        throw new IOException("Quartz came without " + path);
      }
      statement.execute("CREATE SCHEMA quartz");
      statement.execute("SET search_path TO quartz");
      statement.execute(new String(script.readAllBytes(), StandardCharsets.UTF_8));
    }
    return new QuartzQueue(database);
  }

  private static Scheduler scheduler() throws SchedulerException {
    Properties properties = new Properties();
    properties.setProperty("org.quartz.scheduler.instanceName", "bench");
    properties.setProperty("org.quartz.scheduler.instanceId", "AUTO");
    properties.setProperty("org.quartz.scheduler.skipUpdateCheck", "true");
    properties.setProperty(
        "org.quartz.scheduler.batchTriggerAcquisitionMaxCount", Integer.toString(THREADS));
    properties.setProperty("org.quartz.threadPool.class", "org.quartz.simpl.SimpleThreadPool");
    properties.setProperty("org.quartz.threadPool.threadCount", Integer.toString(THREADS));
    properties.setProperty("org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX");
    properties.setProperty(
        "org.quartz.jobStore.driverDelegateClass",
        "org.quartz.impl.jdbcjobstore.PostgreSQLDelegate");
    properties.setProperty("org.quartz.jobStore.dataSource", DATA_SOURCE);
    properties.setProperty("org.quartz.jobStore.tablePrefix", "quartz.qrtz_");
    properties.setProperty("org.quartz.jobStore.isClustered", "true");
    properties.setProperty("org.quartz.jobStore.acquireTriggersWithinLock", "true");
    properties.setProperty("org.quartz.jobStore.misfireThreshold", "3600000");
    return new StdSchedulerFactory(properties).getScheduler();
  }

  /** Quartz never creates one: the job factory below returns what to run. */
  private static final class Nothing implements Job {
    @Override
    public void execute(JobExecutionContext context) {}
  }

  @Override
  public void fill(int jobs) throws SchedulerException {
    Scheduler scheduler = scheduler();
    JobDetail detail =
        JobBuilder.newJob(Nothing.class).withIdentity("nothing").storeDurably().build();
    fills++;
    for (int done = 0; done < jobs; done += FILL_BATCH) {
      Set<Trigger> triggers = new HashSet<>();
      for (int i = done; i < Math.min(jobs, done + FILL_BATCH); i++) {
        triggers.add(
            TriggerBuilder.newTrigger()
                .forJob(detail)
                .withIdentity(fills + "-" + i)
                .startNow()
                .build());
      }
      scheduler.scheduleJobs(Map.of(detail, triggers), true);
    }
    scheduler.shutdown(true);
  }

  @Override
  public AutoCloseable work(Runnable job) throws SchedulerException {
    Scheduler scheduler = scheduler();
    scheduler.setJobFactory((bundle, ignored) -> context -> job.run());
    scheduler.start();
    return () -> scheduler.shutdown(true);
  }

  @Override
  public long left() throws SQLException {
    return database.number("SELECT count(*) FROM quartz.qrtz_triggers");
  }
}
