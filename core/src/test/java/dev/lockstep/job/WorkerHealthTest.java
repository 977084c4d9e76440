package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Transactor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Every loop of a worker survives what is thrown at it, and the worker says how it is. */
class WorkerHealthTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private volatile boolean broken;

  @Test
  void aWorkerWhoseEveryLoopMeetsAnErrorSaysSoAndIsWellAgainAfterwards() throws Exception {
    CountDownLatch begun = new CountDownLatch(2);
    CountDownLatch go = new CountDownLatch(1);
    Jobs jobs = new Jobs(new Transactor(breakable()), Desk.config());
    desk.enqueue(Desk.job("\"effect\""));
    desk.enqueue(Desk.job("\"plain\""));
    Worker worker =
        desk.start(
            jobs,
            Desk.worker(4),
            (payload, job) -> {
              begun.countDown();
              assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
              return payload.equals("\"effect\"")
                  ? Desk.effect(payload, job)
                  : desk.note(payload, job);
            });
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    Await.until("it is well", () -> worker.health().isHealthy());

    broken = true;
    go.countDown();
    Await.until("its heart fails", () -> says(worker, "Heartbeats"));
    Await.until("its reader fails", () -> says(worker, "job-reader"));
    Await.until("its results fail", () -> says(worker, "results"));
    broken = false;

    desk.enqueueMany(50);
    desk.awaitNoneLive();
    assertThat(desk.ran).hasSize(51);
    assertThat(desk.effects()).containsExactly("\"effect\"");
    Await.until("it is well again", () -> worker.health().isHealthy());
  }

  private static boolean says(Worker worker, String word) {
    WorkerHealth health = worker.health();
    return !health.isHealthy() && health.problems().stream().anyMatch(p -> p.contains(word));
  }

  @Test
  void aWorkerThatHasLostAThreadGivesItsShardsUp() {
    Worker dying = desk.start(1, desk::note);
    Await.until("it owns all", () -> dying.ownedShards() == Desk.SHARDS);
    assertThat(dying.health().isHealthy()).isTrue();

    dying.giveUp();

    Worker next = desk.start(1, desk::note);
    Await.until("the next has them", () -> next.ownedShards() == Desk.SHARDS);
    assertThat(dying.health().problems()).anyMatch(problem -> problem.contains("A thread died"));
    desk.enqueueMany(20);
    desk.awaitNoneLive();
  }

  /** Connections as usual, or nothing but an Error. */
  private DataSource breakable() {
    return (DataSource)
        Proxy.newProxyInstance(
            DataSource.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, args) -> {
              if (broken) {
                throw new LinkageError("as a driver might");
              }
              try {
                return method.invoke(database.dataSource(), args);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }
}
