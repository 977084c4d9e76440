package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.ChildJvm;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.testkit.TransactionPooler;
import dev.lockstep.tx.Transactor;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Nothing rests on a session: jobs through PgBouncer in transaction mode. */
class JobsThroughPoolerTest {
  private static final int LANES = 5;
  private static final int EACH = 40;

  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);
  private static TransactionPooler pooler;

  @BeforeAll
  static void startPooler() {
    pooler = TransactionPooler.start(database);
  }

  @AfterAll
  static void stopPooler() {
    pooler.close();
  }

  private static Jobs jobs() {
    return new Jobs(new Transactor(pooler.dataSource()), Desk.config());
  }

  @Test
  void lanesKeepTheirOrderAndEveryJobRunsOnce() {
    Jobs jobs = jobs();
    desk.start(jobs, Desk.worker(4), desk::note);
    // Notifications come past the pooler.
    desk.start(jobs, Desk.worker(4).withListen(database.dataSource()), desk::note);
    List<String> all = new ArrayList<>();
    for (int i = 0; i < EACH; i++) {
      List<NewJob> batch = new ArrayList<>();
      for (int lane = 0; lane < LANES; lane++) {
        String payload = Integer.toString(lane * EACH + i);
        batch.add(Desk.job(payload).inLane("lane " + lane));
        all.add(payload);
      }
      new Transactor(pooler.dataSource()).run(c -> jobs.enqueueAll(c, batch));
    }
    desk.awaitNoneLive();

    assertThat(desk.ran).containsExactlyInAnyOrderElementsOf(all);
    for (int lane = 0; lane < LANES; lane++) {
      int from = lane * EACH;
      assertThat(desk.ran.stream().map(Integer::valueOf).filter(n -> n / EACH * EACH == from))
          .as("lane %d", lane)
          .isSorted();
    }
  }

  @Test
  void copiedJobsAreDoneAndTheirEffectsWrittenOnce() {
    Jobs jobs = jobs();
    int count = 300;
    new Transactor(pooler.dataSource())
        .run(c -> jobs.copy(c, IntStream.range(0, count).mapToObj(Desk::job).iterator()));
    desk.start(jobs, Desk.worker(4), Desk::effect);
    desk.awaitNoneLive();

    assertThat(desk.effects()).containsExactlyInAnyOrderElementsOf(numbers(count));
  }

  @Test
  void anotherNodeTakesOverFromOneThatWasKilled() throws Exception {
    int count = 200;
    desk.enqueueMany(count);
    try (ChildJvm victim = WorkingProcess.start(pooler.url(), "anybody", "anything")) {
      for (int i = 0; i < 20; i++) {
        victim.awaitLine(line -> line.startsWith("begun"));
      }
      victim.kill();
    }
    assertThat(desk.live()).as("killed in the middle").isPositive();
    desk.age(WorkingProcess.NODE);

    desk.start(jobs(), Desk.worker(4), Desk::effect);
    desk.awaitNoneLive();

    assertThat(desk.effects()).containsExactlyInAnyOrderElementsOf(numbers(count));
  }

  private static List<String> numbers(int count) {
    return IntStream.range(0, count).mapToObj(Integer::toString).toList();
  }
}
