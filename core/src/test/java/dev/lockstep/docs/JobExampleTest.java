package dev.lockstep.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.job.Handlers;
import dev.lockstep.job.JobContext;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.NewJob;
import dev.lockstep.job.Outcome;
import dev.lockstep.job.QueueConfig;
import dev.lockstep.job.Worker;
import dev.lockstep.job.WorkerConfig;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The example of the document about jobs, run. */
class JobExampleTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();

  // snippet: jobs
  /** The order and its job are there together, or neither is. */
  static void order(Transactor transactor, Jobs jobs, String customer, long order) {
    transactor.run(
        connection -> {
          run(connection, "INSERT INTO orders (id) VALUES (?)", order);
          jobs.enqueue(
              connection,
              NewJob.of("orders", "ship", Long.toString(order))
                  .inLane(customer) // a customer's orders one at a time, in order
                  .withMaxAttempts(5));
        });
  }

  /** On each node: up to eight jobs of the queue at a time. */
  static Worker startWorker(Jobs jobs) {
    return jobs.worker(
        WorkerConfig.named("node-1").withQueue(QueueConfig.of("orders", 8)),
        Handlers.none()
            .on(
                "ship",
                Long::valueOf, // or your JSON library
                (order, job) ->
                    // Written in the transaction that completes the job: exactly once.
                    Outcome.Done.writing(
                        c -> run(c, "UPDATE orders SET shipped = true WHERE id = ?", order))));
  }

  // end: jobs

  // snippet: complete
  /** For kind "ship", too: in a transaction that the handler, or its framework, begins and ends. */
  static Outcome ship(DataSource dataSource, long order, JobContext job) throws SQLException {
    try (Connection c = dataSource.getConnection()) {
      c.setAutoCommit(false);
      run(c, "UPDATE orders SET shipped = true WHERE id = ?", order);
      job.complete(c); // throws StaleJob if this node may no longer complete it
      c.commit();
      return Outcome.done();
    }
  }

  // end: complete

  @Test
  void anOrderIsShippedOnce() {
    database.execute("CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY, shipped boolean)");
    database.execute("DELETE FROM orders");
    Transactor transactor = new Transactor(database.dataSource());
    Jobs jobs = new Jobs(transactor);
    try (Worker worker = startWorker(jobs)) {
      order(transactor, jobs, "ann", 1);
      order(transactor, jobs, "ann", 2);

      Await.until("shipped", () -> shipped() == 2);
      assertThat(worker.ownedShards()).isEqualTo(32);
    }
  }

  @Test
  void anOrderIsShippedOnceInATransactionOfTheHandlers() {
    database.execute("CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY, shipped boolean)");
    database.execute("DELETE FROM orders");
    Transactor transactor = new Transactor(database.dataSource());
    Jobs jobs = new Jobs(transactor);
    Handlers handlers =
        Handlers.none()
            .on("ship", Long::valueOf, (order, job) -> ship(database.dataSource(), order, job));
    WorkerConfig config = WorkerConfig.named("node-1").withQueue(QueueConfig.of("orders", 8));
    try (Worker worker = jobs.worker(config, handlers)) {
      order(transactor, jobs, "ann", 3);

      Await.until("shipped and done", () -> shipped() == 1 && live() == 0);
      assertThat(worker.health().problems()).isEmpty();
    }
  }

  private static long live() {
    return database.queryLong("SELECT count(*) FROM lockstep.job");
  }

  private static long shipped() {
    return database.queryLong("SELECT count(*) FROM orders WHERE shipped");
  }

  private static void run(Connection connection, String sql, long order) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setLong(1, order);
      statement.execute();
    }
  }
}
