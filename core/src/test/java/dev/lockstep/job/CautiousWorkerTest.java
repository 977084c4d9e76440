package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a worker does so that the damage of a process that dies or stands still stays small. */
class CautiousWorkerTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  private static final int ORDINARY = 20;

  /** Side by side, both would be counted when one of them kills the node a third time. */
  @Test
  void jobsThatWereThereAtTwoCrashesRunOneAtATimeWhileOthersGoOn() {
    desk.enqueue(Desk.job("\"suspect\""));
    desk.enqueue(Desk.job("\"suspect\""));
    database.execute("UPDATE lockstep.job SET crashes = 2");
    AtomicInteger suspects = new AtomicInteger();
    CountDownLatch go = new CountDownLatch(1);
    desk.start(
        3,
        (payload, job) -> {
          if (payload.equals("\"suspect\"")) {
            suspects.incrementAndGet();
            go.await();
          }
          return desk.note(payload, job);
        });
    Await.until("one has begun", () -> suspects.get() > 0);

    for (int i = 1; i <= ORDINARY; i++) {
      int ran = i;
      desk.enqueue(Desk.job(i));
      Await.until("an ordinary job ran", () -> desk.ran.size() == ran);
    }

    assertThat(suspects).hasValue(1);
    go.countDown();
    desk.awaitNoneLive();
    assertThat(suspects).hasValue(2);
  }

  /** As many of them as the worker has threads, and one that takes for ever. */
  @Test
  void suspectsThatWaitForEachOtherKeepNoThreadFromOtherJobs() {
    for (int i = 0; i < 3; i++) {
      desk.enqueue(Desk.job("\"suspect\""));
    }
    database.execute("UPDATE lockstep.job SET crashes = 2");
    AtomicInteger suspects = new AtomicInteger();
    CountDownLatch go = new CountDownLatch(1);
    desk.start(
        2,
        (payload, job) -> {
          if (payload.equals("\"suspect\"")) {
            suspects.incrementAndGet();
            go.await();
          }
          return desk.note(payload, job);
        });
    Await.until("one has begun", () -> suspects.get() > 0);

    desk.enqueueMany(ORDINARY);
    Await.until("the ordinary jobs ran", () -> desk.ran.size() == ORDINARY);

    assertThat(suspects).hasValue(1);
    go.countDown();
    desk.awaitNoneLive();
    assertThat(suspects).hasValue(3);
  }

  /** What effects have locked is free when the lease has passed, if their process stands still. */
  @Test
  void theServerEndsEffectsThatAreIdleForLongerThanTheLease() {
    TxOptions patient =
        TxOptions.DEFAULT
            .withDeadline(Duration.ofMinutes(30))
            .withIdleTimeout(Duration.ofMinutes(20));
    Jobs jobs =
        new Jobs(new Transactor(database.dataSource(), patient, attempt -> {}), Desk.config());
    Queue<String> idle = new ConcurrentLinkedQueue<>();
    desk.enqueueMany(1);

    desk.start(
        jobs,
        Desk.worker(1).withLease(Duration.ofMinutes(7), Duration.ofMillis(20)),
        (payload, job) ->
            Outcome.Done.writing(
                c -> idle.add(Sql.text(c, "SHOW idle_in_transaction_session_timeout"))));
    desk.awaitNoneLive();

    assertThat(idle).containsExactly("7min");
  }
}
