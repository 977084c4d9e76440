package dev.lockstep.job;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.testkit.ChildJvm;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/**
 * A worker in a process of its own. It says which job it begins; a job with the payload "halt" ends
 * the process at once; one that waits does so until it is told to go on.
 */
final class WorkingProcess {
  static final String NODE = "child";

  private WorkingProcess() {}

  static ChildJvm start(TestDatabase database) {
    return start(database.url(), database.user(), database.password());
  }

  static ChildJvm start(String url, String user, String password) {
    return ChildJvm.start(WorkingProcess.class, url, user, password);
  }

  public static void main(String[] args) throws Exception {
    HikariConfig pool = new HikariConfig();
    pool.setJdbcUrl(args[0]);
    pool.setUsername(args[1]);
    pool.setPassword(args[2]);
    pool.setMaximumPoolSize(10);
    CountDownLatch go = new CountDownLatch(1);
    try (HikariDataSource source = new HikariDataSource(pool)) {
      Transactor transactor = new Transactor(source);
      WorkerConfig config =
          WorkerConfig.named(NODE)
              .withQueue(Desk.queue(4))
              .withLease(Desk.LONG, Duration.ofMillis(20))
              .withPollInterval(Duration.ofMillis(20));
      Worker worker =
          new Jobs(transactor, Desk.config())
              .worker(
                  config,
                  Handlers.none()
                      .on(Desk.KIND, (payload, job) -> run(transactor, go, payload, job)));
      try (worker) {
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
          go.countDown();
        }
      }
    }
  }

  private static Outcome run(
      Transactor transactor, CountDownLatch go, String payload, JobContext job) throws Exception {
    System.out.println("begun " + payload);
    switch (payload) {
      case "\"halt\"" -> Runtime.getRuntime().halt(1);
      case "\"wait\"" -> go.await();
      case "\"wait and see\"" -> {
        go.await();
        Await.until("the lease is lost", () -> !job.holdsLease());
        System.out.println("lease lost");
      }
      case "\"wait naive\"" -> {
        go.await();
        // The effect first, and the result whenever: no transaction in common, no fence.
        transactor.run(
            connection -> Sql.execute(connection, "INSERT INTO effect VALUES (?)", payload));
        System.out.println("written");
        return Outcome.done();
      }
      case "\"complete and wait\"", "\"wait and complete\"" -> {
        return completeByHand(transactor, go, payload, job);
      }
      case "\"freeze\"" -> {
        return Outcome.Done.writing(
            connection -> {
              Sql.execute(connection, "INSERT INTO effect VALUES (?)", payload);
              System.out.println("completing");
              awaitQuietly(go);
            });
      }
      default -> {}
    }
    return Desk.effect(payload, job);
  }

  /** Completes the job in a transaction that the handler begins. */
  private static Outcome completeByHand(
      Transactor transactor, CountDownLatch go, String payload, JobContext job) {
    boolean waitsFirst = payload.startsWith("\"wait");
    if (waitsFirst) {
      awaitQuietly(go);
    }
    try {
      transactor.run(
          connection -> {
            Sql.execute(connection, "INSERT INTO effect VALUES (?)", payload);
            job.complete(connection);
            System.out.println("completing");
            if (!waitsFirst) {
              awaitQuietly(go);
            }
          });
    } catch (StaleJob e) {
      System.out.println("stale: " + e.getMessage());
      throw e;
    }
    return Outcome.done();
  }

  private static void awaitQuietly(CountDownLatch go) {
    try {
      go.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
