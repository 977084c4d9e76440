package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.ChildJvm;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import java.sql.Connection;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** G6: a worker that is killed in the middle loses nothing and doubles nothing. E10. */
class CrashedWorkerTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Desk desk = new Desk(database);

  @Test
  void allJobsOfAKilledWorkerAreDoneAndTheirEffectsHappenOnce() throws Exception {
    int count = 500;
    desk.enqueueMany(count);
    try (ChildJvm victim = WorkingProcess.start(database)) {
      for (int i = 0; i < 50; i++) {
        victim.awaitLine(line -> line.startsWith("begun"));
      }
      victim.kill();
    }
    assertThat(desk.live()).as("killed in the middle").isPositive();
    desk.age(WorkingProcess.NODE);

    desk.start(4, Desk::effect);
    desk.awaitNoneLive();

    assertThat(desk.effects())
        .containsExactlyInAnyOrderElementsOf(
            IntStream.range(0, count).mapToObj(Integer::toString).toList());
  }

  @Test
  void aJobThatKillsItsWorkerEndsDeadAndTheOthersAreDone() throws Exception {
    JobId killer = desk.enqueue(Desk.job("\"halt\""));
    desk.enqueueMany(20);
    for (int life = 0; desk.live() > 0; life++) {
      assertThat(life).as("workers killed").isLessThan(5);
      try (ChildJvm victim = WorkingProcess.start(database)) {
        Await.until("killed, or all done", () -> !victim.isAlive() || desk.live() == 0);
      }
      desk.age(WorkingProcess.NODE);
    }

    Job dead = desk.jobs().find(killer).orElseThrow();
    assertThat(dead.state()).isEqualTo(JobState.DEAD);
    assertThat(dead.reason()).hasValueSatisfying(reason -> assertThat(reason).contains("died"));
    assertThat(desk.jobs().attempts(killer)).isNotEmpty();
    assertThat(desk.effects()).doesNotHaveDuplicates().hasSize(20);
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.job_dead")).isEqualTo(1);
  }

  /** Stopped in the transaction that completes a job: what that has locked is free soon. */
  @Test
  void theJobsOfAWorkerThatStandsStillInTheMiddleOfCompletingAreDoneByAnother() throws Exception {
    desk.enqueue(Desk.job("\"freeze\""));
    desk.enqueueMany(20);
    try (ChildJvm frozen = WorkingProcess.start(database)) {
      frozen.awaitLine("completing");
      frozen.pause();
      desk.age(WorkingProcess.NODE);

      desk.start(4, Desk::effect);
      desk.awaitNoneLive();
      frozen.send("go on");
      frozen.resume();
      // It has come back as another once it has heard that it was taken for dead.
      Await.until("it is back", () -> desk.members(WorkingProcess.NODE) == 1);
    }

    assertThat(desk.effects()).doesNotHaveDuplicates().hasSize(21);
  }

  @Test
  void anEventMarkedAsProcessingByAWorkerThatDiesStaysSoForEver() throws Exception {
    database.execute(
        """
        DROP TABLE IF EXISTS naive_event;
        CREATE TABLE naive_event (id int PRIMARY KEY, status text NOT NULL);
        INSERT INTO naive_event VALUES (1, 'PENDING');
        """);
    String claim =
        """
        UPDATE naive_event SET status = 'PROCESSING' WHERE id IN (
          SELECT id FROM naive_event WHERE status = 'PENDING' LIMIT 1 FOR UPDATE SKIP LOCKED)""";
    try (Connection dies = database.connection()) {
      assertThat(Sql.execute(dies, claim)).isEqualTo(1);
    }
    try (Connection next = database.connection()) {
      assertThat(Sql.execute(next, claim)).as("nobody will ever run it").isZero();
    }
  }
}
