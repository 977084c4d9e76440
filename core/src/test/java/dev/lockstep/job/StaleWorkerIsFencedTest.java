package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.shard.OwningProcess;
import dev.lockstep.testkit.ChildJvm;
import dev.lockstep.testkit.TestDatabase;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** G6: a worker that was stopped for longer than its lease, and goes on as if nothing had been. */
class StaleWorkerIsFencedTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  @Test
  void aStoppedWorkersResultIsRefusedWhileItsSuccessorIsStillAtIt() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    desk.enqueue(Desk.job("\"wait\""));
    try (ChildJvm stale = WorkingProcess.start(database)) {
      stale.awaitLine(line -> line.startsWith("begun"));
      OwningProcess.pauseBetweenTransactions(database, stale);
      desk.age(WorkingProcess.NODE);
      desk.start(
          1,
          (payload, job) -> {
            begun.countDown();
            assertThat(go.await(60, TimeUnit.SECONDS)).isTrue();
            return Desk.effect("\"the successor's\"", job);
          });
      assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();

      stale.send("go");
      stale.resume();

      // The job is still there, so nothing but the epoch can tell the two apart.
      stale.awaitLine(line -> line.contains("refused: the job was changed"));
      assertThat(desk.effects()).isEmpty();
      go.countDown();
      desk.awaitNoneLive();
      assertThat(desk.effects()).containsExactly("\"the successor's\"");
    }
  }

  @Test
  void aHandlerCanSeeThatItsLeaseIsLost() throws Exception {
    desk.enqueue(Desk.job("\"wait and see\""));
    try (ChildJvm stale = WorkingProcess.start(database)) {
      followWhileStopped(stale);

      stale.send("go");
      stale.resume();

      stale.awaitLine("lease lost");
      stale.awaitLine(line -> line.contains("refused: the job was changed"));
      assertThat(desk.effects()).hasSize(1);
    }
  }

  @Test
  void withoutTheFenceItsEffectHappensTwice() throws Exception {
    desk.enqueue(Desk.job("\"wait naive\""));
    try (ChildJvm stale = WorkingProcess.start(database)) {
      followWhileStopped(stale);

      stale.send("go");
      stale.resume();
      stale.awaitLine("written");

      assertThat(desk.effects()).containsExactly("\"wait naive\"", "\"wait naive\"");
    }
  }

  /** The worker begins the job and is stopped; its lease passes, and another does the job. */
  private void followWhileStopped(ChildJvm stale) throws InterruptedException {
    stale.awaitLine(line -> line.startsWith("begun"));
    OwningProcess.pauseBetweenTransactions(database, stale);
    desk.age(WorkingProcess.NODE);
    desk.start(2, Desk::effect);
    desk.awaitNoneLive();
    assertThat(desk.effects()).hasSize(1);
  }
}
