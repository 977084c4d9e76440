package dev.lockstep.outage;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.fault.OutcomeUnknown;
import dev.lockstep.fault.TransientFault;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.Holds;
import dev.lockstep.job.Handlers;
import dev.lockstep.job.Jobs;
import dev.lockstep.job.NewJob;
import dev.lockstep.job.Outcome;
import dev.lockstep.job.QueueConfig;
import dev.lockstep.job.Worker;
import dev.lockstep.job.WorkerConfig;
import dev.lockstep.ledger.Ledger;
import dev.lockstep.once.Once;
import dev.lockstep.once.OnceKey;
import dev.lockstep.outage.FrozenNode.Doing;
import dev.lockstep.testkit.ReplicatedServer;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A standby is promoted and the primary stopped, under load on every block, through a URL with both
 * hosts. Whoever asks meanwhile gets an answer, a fault that says to try again, or that the outcome
 * is unknown; and the work goes on. What was answered is there.
 */
class FailoverTest {
  private static final int MORE = 20;
  private static final String QUEUE = "mail";
  private static final String KIND = "send";

  private final AtomicBoolean open = new AtomicBoolean(true);
  private final ConcurrentLinkedQueue<Throwable> wrong = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<HoldId> held = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<String> enqueued = new ConcurrentLinkedQueue<>();
  private final List<Thread> callers = new ArrayList<>();

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void everyBlockGoesOnAtThePromotedServer(boolean crash) throws Exception {
    try (ReplicatedServer servers = ReplicatedServer.start(true);
        HikariDataSource pool = pool(servers)) {
      Transactor transactor = new Transactor(pool);
      prepare(transactor);
      try (Holds holds = new Holds(transactor);
          Ledger ledger = new Ledger(transactor);
          Worker worker = worker(transactor)) {
        List<AtomicLong> done = load(transactor, holds, ledger);
        awaitMore(done);

        servers.promote();
        if (crash) {
          servers.crashPrimary();
        } else {
          servers.stopPrimary();
        }

        awaitMore(done);
        open.set(false);
        for (Thread caller : callers) {
          caller.join();
        }
        assertThat(wrong).isEmpty();
        try (Connection promoted = DriverManager.getConnection(servers.standbyUrl())) {
          assertThat(holdsThere(promoted)).containsAll(held);
          Await.until("every job is done", () -> jobsDone(promoted).containsAll(enqueued));
          assertThat(jobsDone(promoted)).doesNotHaveDuplicates();
        }
        assertThat(worker).isNotNull();
      }
    }
  }

  private static HikariDataSource pool(ReplicatedServer servers) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(servers.url());
    config.setMaximumPoolSize(20);
    config.setConnectionTimeout(3_000);
    return new HikariDataSource(config);
  }

  private static void prepare(Transactor transactor) {
    FrozenNodeTest.makeWhatAllWant(transactor);
    transactor.run(c -> Sql.execute(c, "CREATE TABLE effect (name text)"));
  }

  private static Worker worker(Transactor transactor) {
    WorkerConfig config =
        WorkerConfig.named("here")
            .withQueue(QueueConfig.of(QUEUE, 4))
            .withLease(Duration.ofSeconds(3), Duration.ofMillis(200))
            .withPollInterval(Duration.ofMillis(50));
    return new Jobs(transactor)
        .worker(
            config,
            Handlers.none()
                .on(
                    KIND,
                    (payload, job) ->
                        Outcome.Done.writing(
                            c -> Sql.execute(c, "INSERT INTO effect VALUES (?)", payload))));
  }

  /** A caller for each block, which asks again and again. */
  private List<AtomicLong> load(Transactor transactor, Holds holds, Ledger ledger) {
    Once once = new Once(transactor);
    Jobs jobs = new Jobs(transactor);
    return List.of(
        caller(
            () -> {
              if (FrozenNode.await(holds.submit(FrozenNode.acquire())) instanceof Granted granted) {
                held.add(granted.hold().id());
              }
            }),
        caller(() -> FrozenNode.await(ledger.submit(FrozenNode.move()))),
        caller(
            () ->
                once.run(
                    new OnceKey(1, "owner", UUID.randomUUID().toString()),
                    FrozenNode.REQUEST,
                    c -> "answer")),
        caller(() -> Doing.APPEND.perform(transactor, c -> {})),
        caller(() -> Doing.TRANSACTION.perform(transactor, c -> {})),
        caller(
            () -> {
              String name = "\"" + UUID.randomUUID() + "\"";
              transactor.run(c -> jobs.enqueue(c, NewJob.of(QUEUE, KIND, name)));
              enqueued.add(name);
            }));
  }

  @FunctionalInterface
  private interface Asking {
    void ask() throws Exception;
  }

  private AtomicLong caller(Asking asking) {
    AtomicLong done = new AtomicLong();
    Thread thread =
        new Thread(
            () -> {
              while (open.get() && wrong.isEmpty()) {
                try {
                  asking.ask();
                  done.incrementAndGet();
                } catch (CompletionException e) {
                  judge(e.getCause());
                } catch (Exception e) {
                  judge(e);
                }
              }
            });
    callers.add(thread);
    thread.start();
    return done;
  }

  private void judge(Throwable thrown) {
    if (!(thrown instanceof TransientFault) && !(thrown instanceof OutcomeUnknown)) {
      wrong.add(thrown);
    }
  }

  private void awaitMore(List<AtomicLong> done) {
    List<Long> before = done.stream().map(AtomicLong::get).toList();
    Await.until(
        "each block has done more",
        () -> {
          boolean more = true;
          for (int i = 0; i < done.size(); i++) {
            more &= done.get(i).get() >= before.get(i) + MORE;
          }
          return more || !wrong.isEmpty();
        });
    assertThat(wrong).isEmpty();
  }

  private static List<HoldId> holdsThere(Connection connection) throws SQLException {
    return texts(connection, "SELECT hold::text FROM lockstep.hold").stream()
        .map(HoldId::of)
        .toList();
  }

  private static List<String> jobsDone(Connection connection) {
    try {
      return texts(connection, "SELECT name FROM effect");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static List<String> texts(Connection connection, String sql) throws SQLException {
    List<String> texts = new ArrayList<>();
    try (var statement = connection.createStatement();
        var rows = statement.executeQuery(sql)) {
      while (rows.next()) {
        texts.add(rows.getString(1));
      }
    }
    return texts;
  }
}
