package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What a worker has in memory is no longer so: a result was refused, or its answer was lost, or a
 * former owner is still at it. It reads again, and goes by what it finds.
 */
class ReadAgainTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated().withPoolSize(40);
  @RegisterExtension final Desk desk = new Desk(database);

  private static final int LANES = 4 * Desk.SHARDS;

  private final CountDownLatch go = new CountDownLatch(1);
  private final Map<Integer, List<String>> order = new ConcurrentHashMap<>();

  @Test
  void aLaneGoesOnWhenWhatRanAtTheFormerOwnerIsDone() throws Exception {
    enqueueLanes();
    handOverWhileTheFirstOfEachLaneRuns((payload, job) -> Outcome.done());

    desk.awaitNoneLive();

    assertThat(order.values()).hasSize(LANES).allMatch(List.of("0", "1", "2")::equals);
  }

  @Test
  void aLaneWaitsForWhatTheFormerOwnerFailedWith() throws Exception {
    enqueueLanes();
    handOverWhileTheFirstOfEachLaneRuns((payload, job) -> new Outcome.Retry("not yet"));

    desk.awaitNoneLive();

    assertThat(order.values()).hasSize(LANES).allMatch(List.of("0", "0", "1", "2")::equals);
  }

  @Test
  void aRetryWhoseCommitIsCutKeepsItsPlaceInTheLane() {
    try (LostAnswer network = LostAnswer.on(database).arm("due = CASE WHEN j.lane_limit = 1")) {
      Jobs jobs = new Jobs(new Transactor(network.dataSource()), Desk.config());
      for (String payload : List.of("\"a\"", "\"b\"", "\"c\"")) {
        desk.enqueue(Desk.job(payload).inLane("lane"));
      }
      Worker worker =
          desk.start(
              jobs,
              Desk.worker(2),
              (payload, job) -> {
                desk.ran.add(payload);
                return payload.equals("\"a\"") && job.attempt() == 1
                    ? new Outcome.Retry("again", Optional.of(Duration.ofMillis(50)))
                    : Outcome.done();
              });

      desk.awaitNoneLive();

      assertThat(network.fired()).isTrue();
      assertThat(desk.ran).containsExactly("\"a\"", "\"a\"", "\"b\"", "\"c\"");
      worker.close();
    }
  }

  @Test
  void aJobOfALaneThatWasChangedWhileItRanRunsAgainBeforeTheOthers() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    JobId first = desk.enqueue(Desk.job("\"before\"").inLane("lane"));
    desk.enqueue(Desk.job("\"next\"").inLane("lane"));
    desk.start(
        2,
        (payload, job) -> {
          begun.countDown();
          if (payload.equals("\"before\"")) {
            assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
          }
          return desk.note(payload, job);
        });
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();

    edit(first, "\"after\"");
    go.countDown();
    desk.awaitNoneLive();

    assertThat(desk.ran).containsExactly("\"before\"", "\"after\"", "\"next\"");
  }

  @Test
  void aJobThatIsChangedWhileItIsMarkedAsRunningRunsAsChanged() {
    JobId id = desk.enqueue(Desk.job("\"before\""));
    desk.start(
        desk.jobs(),
        Desk.worker(1).withMarkAfter(Duration.ofMillis(10)),
        (payload, job) -> {
          if (payload.equals("\"before\"")) {
            assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
          }
          return Desk.effect(payload, job);
        });
    Await.until("running", () -> desk.jobs().find(id).orElseThrow().state() == JobState.RUNNING);

    edit(id, "\"after\"");
    go.countDown();
    desk.awaitNoneLive();

    assertThat(desk.effects()).containsExactly("\"after\"");
  }

  @Test
  void aJobThatIsChangedWhileItRunsAtTheFormerOwnerRunsAsChanged() throws Exception {
    CountDownLatch begun = new CountDownLatch(Desk.SHARDS);
    List<JobId> ids = new ArrayList<>();
    Jobs jobs = desk.jobs();
    List<NewJob> batch =
        IntStream.range(0, Desk.SHARDS).mapToObj(i -> Desk.job("\"before\"")).toList();
    desk.transactor()
        .run(
            c ->
                jobs.enqueueAll(c, batch)
                    .forEach(one -> ids.add(((EnqueueResult.Created) one).id())));
    Worker first = desk.start(Desk.SHARDS, (payload, job) -> waitThenWrite(begun, payload, job));
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    Worker second = desk.start(4, (payload, job) -> waitThenWrite(begun, payload, job));
    awaitHalves(first, second);

    ids.forEach(id -> edit(id, "\"after\""));
    go.countDown();
    desk.awaitNoneLive();

    assertThat(desk.effects()).hasSize(Desk.SHARDS).containsOnly("\"after\"");
  }

  @Test
  void aJobThatIsFoundChangedAfterItsShardWasHandedOverRunsAsChanged() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    try (HeldStatement network = HeldStatement.on(database)) {
      Jobs jobs = new Jobs(new Transactor(network.dataSource()), Desk.config());
      desk.enqueue(Desk.job("\"first\""));
      Worker first =
          desk.start(
              jobs,
              Desk.worker(1).withQueue(QueueConfig.of("other", 1)),
              (payload, job) -> waitThenWrite(begun, payload.replace("first", "before"), job));
      assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
      JobId id = desk.enqueue(Desk.job("\"read ahead\"").withUnique(keyOfAShardToBeHandedOver()));
      lookAgain();

      // Taken in hand, and before it begins its row is asked for: that question is on its way.
      network.hold("SELECT j.id, j.version FROM unnest");
      go.countDown();
      network.awaitHeld();
      Worker second = desk.start(1, Desk::effect);
      awaitHalves(first, second);
      assertThat(jobs.find(id).orElseThrow().state()).isEqualTo(JobState.RUNNING);
      edit(id, "\"after\"");
      network.release();
      desk.awaitNoneLive();

      assertThat(desk.effects()).containsExactly("\"before\"", "\"after\"");
      first.close();
    }
  }

  /** A node gives the last of its shards away. */
  private static NewJob.UniqueKey keyOfAShardToBeHandedOver() {
    JobIds ids = new JobIds(Clock.systemUTC(), Desk.SHARDS);
    return IntStream.range(0, 1_000)
        .mapToObj(Integer::toString)
        .filter(key -> ids.shardOf(Desk.QUEUE, key) == Desk.SHARDS - 1)
        .map(NewJob.UniqueKey::whileLive)
        .findFirst()
        .orElseThrow();
  }

  /** A job of another queue in every shard: when they are done, the worker has looked since. */
  private void lookAgain() {
    Jobs jobs = desk.jobs();
    NewJob other = NewJob.of("other", Desk.KIND, "\"other\"");
    for (int i = 0; i < 2; i++) {
      desk.transactor().run(c -> jobs.enqueueAll(c, Collections.nCopies(Desk.SHARDS, other)));
      Await.until("the others are done", () -> desk.live() == 2);
    }
    database.execute("TRUNCATE effect");
  }

  private Outcome waitThenWrite(CountDownLatch begun, String payload, JobContext job)
      throws InterruptedException {
    begun.countDown();
    if (payload.equals("\"before\"")) {
      assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
    }
    return Desk.effect(payload, job);
  }

  @Test
  void aJobWhoseMarkWasCommittedWithoutAnAnswerRuns() {
    try (LostAnswer network = LostAnswer.on(database).arm("UPDATE lockstep.job j SET keeper")) {
      Jobs jobs = new Jobs(new Transactor(network.dataSource()), Desk.config());
      desk.enqueue(Desk.job("\"a\"").inLane("lane"));
      desk.enqueue(Desk.job("\"b\"").inLane("lane"));
      database.execute("UPDATE lockstep.job SET crashes = 1");
      Worker worker = desk.start(jobs, Desk.worker(2), desk::note);

      desk.awaitNoneLive();

      assertThat(network.fired()).isTrue();
      assertThat(desk.ran).containsExactly("\"a\"", "\"b\"");
      worker.close();
    }
  }

  @Test
  void aMarkOfTheNodesOwnThatItDoesNotKnowOfIsNoReasonNotToRunAJob() {
    Worker worker = desk.start(1, desk::note);
    Await.until("it owns all", () -> worker.ownedShards() == Desk.SHARDS);

    desk.transactor()
        .run(
            c -> {
              desk.jobs().enqueue(c, Desk.job("\"marked\""));
              Sql.execute(
                  c, "UPDATE lockstep.job SET keeper = (SELECT member FROM lockstep.shard_member)");
            });

    desk.awaitNoneLive();
    assertThat(desk.ran).containsExactly("\"marked\"");
  }

  @Test
  void aHandOverWhoseMarksWereCommittedWithoutAnAnswerLosesNoResult() throws Exception {
    CountDownLatch begun = new CountDownLatch(Desk.SHARDS);
    desk.enqueueMany(Desk.SHARDS);
    try (LostAnswer network = LostAnswer.on(database)) {
      Jobs jobs = new Jobs(new Transactor(network.dataSource()), Desk.config());
      Worker first =
          desk.start(
              jobs,
              Desk.worker(Desk.SHARDS),
              (payload, job) -> {
                begun.countDown();
                assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
                desk.ran.add(payload);
                return Desk.effect(payload, job);
              });
      assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
      network.arm("UPDATE lockstep.job j SET keeper");
      Worker second =
          desk.start(
              4,
              (payload, job) -> {
                desk.ran.add(payload);
                return Desk.effect(payload, job);
              });
      awaitHalves(first, second);
      go.countDown();
      desk.awaitNoneLive();

      assertThat(network.fired()).isTrue();
      assertThat(desk.ran).hasSize(Desk.SHARDS).doesNotHaveDuplicates();
      first.close();
    }
  }

  private void enqueueLanes() {
    Jobs jobs = desk.jobs();
    List<NewJob> batch = new ArrayList<>();
    for (int n = 0; n < 3; n++) {
      for (int lane = 0; lane < LANES; lane++) {
        batch.add(Desk.job("\"%d/%d\"".formatted(lane, n)).inLane("lane-" + lane));
      }
    }
    desk.transactor().run(c -> jobs.enqueueAll(c, batch));
  }

  /** All begin at one worker; then another comes and gets half of the shards. */
  private void handOverWhileTheFirstOfEachLaneRuns(JobHandler<String> then) throws Exception {
    CountDownLatch begun = new CountDownLatch(LANES);
    Worker first =
        desk.start(
            LANES,
            (payload, job) -> {
              note(payload);
              boolean waits = begun.getCount() > 0;
              begun.countDown();
              if (waits) {
                assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
                return then.run(payload, job);
              }
              return Outcome.done();
            });
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    Worker second =
        desk.start(
            4,
            (payload, job) -> {
              note(payload);
              return Outcome.done();
            });
    awaitHalves(first, second);
    // A job in each shard: when they are done, the second has looked at what it was given.
    NewJob other = Desk.job("\"-1/0\"");
    Jobs jobs = desk.jobs();
    desk.transactor().run(c -> jobs.enqueueAll(c, Collections.nCopies(2 * Desk.SHARDS, other)));
    Await.until("it has looked", () -> order.getOrDefault(-1, List.of()).size() >= Desk.SHARDS);
    order.remove(-1);
    go.countDown();
    Await.until("the rest", () -> desk.live() == 0);
    order.remove(-1);
  }

  private void note(String payload) {
    String[] parts = payload.replace("\"", "").split("/", -1);
    order
        .computeIfAbsent(Integer.valueOf(parts[0]), lane -> new CopyOnWriteArrayList<>())
        .add(parts[1]);
  }

  private static void awaitHalves(Worker first, Worker second) {
    Await.until(
        "half are the other's",
        () -> first.ownedShards() == Desk.SHARDS / 2 && second.ownedShards() == Desk.SHARDS / 2);
  }

  private void edit(JobId id, String payload) {
    EditResult result =
        desk.transactor().call(c -> desk.jobs().payload(c, id, OptionalInt.empty(), payload));
    assertThat(result).isInstanceOf(EditResult.Edited.class);
  }
}
