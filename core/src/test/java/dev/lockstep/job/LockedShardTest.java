package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A shard changes hands while somebody's open transaction has locked jobs of it. */
class LockedShardTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated().withPoolSize(40);
  @RegisterExtension final Desk desk = new Desk(database);

  private static final String LOCKED = "\"locked\"";
  private static final String OTHER = "\"other\"";

  @Test
  void aShardIsHandedOverOnlyAfterTheResultThatWaitsForALock() throws Exception {
    Jobs jobs = jobs(2);
    // Of two shards the last is handed over.
    String lane = laneOf(1, 2);
    enqueue(jobs, IntStream.range(0, 3).mapToObj(i -> Desk.job(i).inLane(lane)));
    Worker first;
    Worker second;
    try (Connection somebody = lock("payload::text = '0'")) {
      first = desk.start(jobs, Desk.worker(4), desk::note);
      Await.until("the first of the lane has run", () -> desk.ran.contains("0"));
      second = desk.start(jobs, Desk.worker(4), desk::note);
      for (int i = 0; i < 3; i++) {
        Await.until("the shard is asked for", () -> first.ownedShards() == 1);
        Await.until("it is kept", () -> first.ownedShards() == 2);
      }
      assertThat(second.ownedShards()).isZero();
      enqueue(jobs, IntStream.range(0, 50).mapToObj(i -> Desk.job(OTHER)));
      Await.until("all others are done", () -> desk.live() == 3);
      assertThat(desk.ran).filteredOn(name -> !name.equals(OTHER)).containsExactly("0");
      somebody.rollback();
    }

    Await.until("one is the other's", () -> first.ownedShards() == 1 && second.ownedShards() == 1);
    desk.awaitNoneLive();
    assertThat(desk.ran)
        .hasSize(53)
        .filteredOn(n -> !n.equals(OTHER))
        .containsExactly("0", "1", "2");
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.job_attempt")).isZero();
    Await.until(
        "nothing is away", () -> database.queryLong("SELECT count(*) FROM lockstep.job_away") == 0);
  }

  @Test
  void aWorkerStopsDespiteALockAndTheNextGoesOnPastIt() throws Exception {
    Jobs jobs = jobs(1);
    enqueue(jobs, Stream.of(Desk.job(LOCKED)));
    try (Connection somebody = lock("true")) {
      Worker first = desk.start(jobs, Desk.worker(4), desk::note);
      Await.until("it has run", () -> desk.ran.contains(LOCKED));
      first.close();

      desk.start(jobs, Desk.worker(4), desk::note);
      enqueue(jobs, IntStream.range(0, 50).mapToObj(i -> Desk.job(OTHER)));
      Await.until("all others are done", () -> desk.live() == 1);
      somebody.rollback();
    }

    desk.awaitNoneLive();
    assertThat(desk.ran).filteredOn(LOCKED::equals).hasSize(2);
    assertThat(desk.ran).filteredOn(OTHER::equals).hasSize(50);
    assertThat(database.queryLong("SELECT count(*) FROM lockstep.job_attempt")).isZero();
  }

  @Test
  void aResultThatHasWaitedForALockIsRefusedUnderAStaleLease() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    Jobs jobs = jobs(1);
    enqueue(jobs, Stream.of(Desk.job(LOCKED)));
    Worker stale;
    try (Connection somebody = lock("true")) {
      stale =
          desk.start(
              jobs,
              WorkerConfig.named("stale")
                  .withQueue(Desk.queue(1))
                  .withPollInterval(Duration.ofMillis(20))
                  // Its first heartbeat is its last, and it does not hear that it is taken for
                  // dead.
                  .withLease(Desk.LONG, Duration.ofMinutes(3)),
              desk::note);
      Await.until("its result waits", () -> !stale.health().isHealthy());
      desk.age("stale");
      desk.start(
          jobs,
          Desk.worker(1),
          (payload, job) -> {
            begun.countDown();
            assertThat(go.await(60, TimeUnit.SECONDS)).isTrue();
            return Desk.effect(payload, job);
          });
      assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
      somebody.rollback();
    }

    Await.until("its result is refused", () -> stale.health().isHealthy());
    assertThat(desk.live()).isEqualTo(1);
    go.countDown();
    desk.awaitNoneLive();
    assertThat(desk.effects()).containsExactly(LOCKED);
  }

  @Test
  void aLockedJobOfADeadNodeIsCountedWhenTheLockIsGone() {
    JobId id = desk.enqueue(Desk.job(1));
    database.execute("UPDATE lockstep.job SET keeper = gen_random_uuid()");
    desk.withLease(
        id,
        (lease, shards) -> {
          Task task = desk.read(lease);
          ShardRecovery recovery =
              new ShardRecovery(
                  desk.transactor(), shards, new JobIds(Clock.systemUTC(), Desk.SHARDS), 3);
          try (Connection somebody = lock("true")) {
            assertThat(recovery.countLost(lease, List.of(task.row))).containsExactly(id);
            somebody.rollback();
          } catch (SQLException e) {
            throw new IllegalStateException(e);
          }
          assertThat(database.queryLong("SELECT crashes + attempts FROM lockstep.job")).isZero();
          assertThat(recovery.countLost(lease, List.of(task.row))).isEmpty();
          assertThat(database.queryLong("SELECT crashes + attempts FROM lockstep.job"))
              .isEqualTo(2);
        });
  }

  @Test
  void lockedJobsFillNoMoreThanTheRoomOfTheirStream() throws Exception {
    Jobs jobs = jobs(1);
    int count = JobStream.MAX_KNOWN + 200;
    enqueue(jobs, IntStream.range(0, count).mapToObj(Desk::job));
    try (Connection somebody = lock("true")) {
      desk.start(jobs, Desk.worker(4), desk::note);
      Await.until("there is no more room", () -> desk.ran.size() == JobStream.MAX_KNOWN);
      for (int i = 0; i < 20; i++) {
        enqueue(jobs, Stream.of(Desk.job(OTHER).withPriority(Priority.HIGH)));
        Await.until("an urgent one is done", () -> desk.live() == count);
      }
      assertThat(desk.ran).hasSize(JobStream.MAX_KNOWN + 20);
      somebody.rollback();
    }

    desk.awaitNoneLive();
    assertThat(desk.ran).hasSize(count + 20);
    assertThat(desk.ran.stream().distinct()).hasSize(count + 1);
  }

  private Jobs jobs(int shards) {
    return new Jobs(desk.transactor(), JobsConfig.DEFAULT.withShards(shards));
  }

  private static String laneOf(int shard, int shards) {
    JobIds ids = new JobIds(Clock.systemUTC(), shards);
    return IntStream.iterate(0, i -> i + 1)
        .mapToObj(i -> "lane-" + i)
        .filter(name -> ids.shardOf(Desk.QUEUE, name) == shard)
        .findFirst()
        .orElseThrow();
  }

  private void enqueue(Jobs jobs, Stream<NewJob> some) {
    List<NewJob> batch = some.toList();
    desk.transactor().run(c -> jobs.enqueueAll(c, batch));
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
