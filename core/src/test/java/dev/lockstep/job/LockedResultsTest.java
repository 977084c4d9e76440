package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Somebody's transaction stays open and has locked jobs: their results wait, and no others. */
class LockedResultsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated().withPoolSize(40);
  @RegisterExtension final Desk desk = new Desk(database);

  private static final int LOCKED = 80;
  private static final int OTHERS = 200;

  @Test
  void manyLockedJobsHoldUpNoOtherResult() throws Exception {
    enqueue("locked", LOCKED);
    try (Connection somebody = lockAll()) {
      start(desk::note);
      enqueue("other", OTHERS);
      Await.until("all others are done", () -> desk.live() == LOCKED);
      assertThat(desk.ran.stream().filter(name -> name.contains("locked"))).hasSize(LOCKED);
      somebody.rollback();
    }

    desk.awaitNoneLive();
    assertThat(desk.ran).hasSize(LOCKED + OTHERS).doesNotHaveDuplicates();
  }

  @Test
  void whoIsToldThatManyKeysAreTakenHoldsUpNoOtherResult() throws Exception {
    List<NewJob> keyed =
        IntStream.range(0, LOCKED)
            .mapToObj(
                i ->
                    Desk.job("\"locked %d\"".formatted(i))
                        .withUnique(NewJob.UniqueKey.whileLive("key-" + i)))
            .toList();
    Jobs jobs = desk.jobs();
    desk.transactor().run(c -> jobs.enqueueAll(c, keyed));
    try (Connection somebody = database.connection()) {
      somebody.setAutoCommit(false);
      assertThat(jobs.enqueueAll(somebody, keyed))
          .allMatch(answer -> answer instanceof EnqueueResult.Duplicate);
      start(desk::note);
      enqueue("other", OTHERS);
      Await.until("all others are done", () -> desk.live() == LOCKED);
      somebody.commit();
    }

    desk.awaitNoneLive();
    assertThat(desk.ran).hasSize(LOCKED + OTHERS).doesNotHaveDuplicates();
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.job_unique")).isZero();
  }

  @Test
  void jobsWithEffectsThatAreLockedHoldUpNoOthersAndAreNoFailures() throws Exception {
    enqueue("locked", LOCKED);
    try (Connection somebody = lockAll()) {
      start(Desk::effect);
      enqueue("other", OTHERS);
      Await.until("all others are done", () -> desk.live() == LOCKED);
      somebody.rollback();
    }

    desk.awaitNoneLive();
    assertThat(desk.effects()).hasSize(LOCKED + OTHERS).doesNotHaveDuplicates();
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.job_attempt")).isZero();
  }

  @Test
  void aLaneWaitsForTheResultOfItsLockedJobAndOtherLanesGoOn() throws Exception {
    List<NewJob> batch =
        IntStream.range(0, 3 * LOCKED)
            .mapToObj(i -> Desk.job(i).inLane("lane-" + i % LOCKED))
            .toList();
    Jobs jobs = desk.jobs();
    desk.transactor().run(c -> jobs.enqueueAll(c, batch));
    try (Connection somebody = lock("payload::text::int < " + (LOCKED - 1))) {
      start(desk::note);
      // The first of each lane, and all of the one lane that nobody has locked.
      Await.until(
          "one lane is done", () -> desk.live() == 3 * LOCKED - 3 && desk.ran.size() == LOCKED + 2);
      somebody.commit();
    }

    desk.awaitNoneLive();
    assertThat(desk.ran).hasSize(3 * LOCKED).doesNotHaveDuplicates();
    List<String> order = List.copyOf(desk.ran);
    for (int i = 0; i < LOCKED; i++) {
      assertThat(order.indexOf("" + i))
          .isLessThan(order.indexOf("" + (i + LOCKED)))
          .isLessThan(order.indexOf("" + (i + 2 * LOCKED)));
      assertThat(order.indexOf("" + (i + LOCKED))).isLessThan(order.indexOf("" + (i + 2 * LOCKED)));
    }
  }

  @Test
  void aLockedJobThatRunsForLongKeepsNoOtherFromBeingMarked() throws Exception {
    CountDownLatch begun = new CountDownLatch(2);
    CountDownLatch go = new CountDownLatch(1);
    Jobs jobs = new Jobs(desk.transactor(), JobsConfig.DEFAULT.withShards(1));
    JobId locked =
        desk.transactor()
            .call(c -> ((EnqueueResult.Created) jobs.enqueue(c, Desk.job("\"locked\""))).id());
    JobId other =
        desk.transactor()
            .call(c -> ((EnqueueResult.Created) jobs.enqueue(c, Desk.job("\"other\""))).id());
    try (Connection somebody = lock("id = '" + locked + "'")) {
      desk.start(
          jobs,
          Desk.worker(2).withMarkAfter(Duration.ofMillis(10)),
          (payload, job) -> {
            begun.countDown();
            assertThat(go.await(60, TimeUnit.SECONDS)).isTrue();
            return desk.note(payload, job);
          });
      assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
      Await.until("it is marked", () -> jobs.find(other).orElseThrow().state() == JobState.RUNNING);
      somebody.rollback();
    }
    go.countDown();
    desk.awaitNoneLive();
  }

  /** With little read ahead: what waits for a lock must not use that up. */
  private void start(JobHandler<String> handler) {
    desk.start(
        desk.jobs(),
        WorkerConfig.named("test")
            .withQueue(Desk.queue(4).withReadAhead(10))
            .withLease(Desk.LONG, Duration.ofMillis(20))
            .withPollInterval(Duration.ofMillis(20)),
        handler);
  }

  private void enqueue(String name, int count) {
    List<NewJob> batch =
        IntStream.range(0, count).mapToObj(i -> Desk.job("\"%s %d\"".formatted(name, i))).toList();
    Jobs jobs = desk.jobs();
    desk.transactor().run(c -> jobs.enqueueAll(c, batch));
  }

  private static Connection lockAll() throws SQLException {
    return lock("true");
  }

  private static Connection lock(String which) throws SQLException {
    Connection somebody = database.connection();
    somebody.setAutoCommit(false);
    try (var statement = somebody.createStatement()) {
      statement.execute("SELECT 1 FROM lockstep.job WHERE " + which + " FOR UPDATE");
    }
    return somebody;
  }
}
