package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.Sql;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A lane waits for what runs, also when the shard has another owner and the running job's row says
 * nothing of it: it was edited, or is gone.
 */
class LaneInFlightTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated().withPoolSize(40);
  @RegisterExtension final Desk desk = new Desk(database);

  private static final int LANES = 2 * Desk.SHARDS;

  private final CountDownLatch begun = new CountDownLatch(LANES);
  private final CountDownLatch go = new CountDownLatch(1);
  private final Map<String, AtomicInteger> running = new ConcurrentHashMap<>();
  private final AtomicInteger most = new AtomicInteger();
  private final Map<String, List<String>> order = new ConcurrentHashMap<>();
  private final AtomicInteger others = new AtomicInteger();
  private final List<JobId> firsts = new ArrayList<>();

  /** What happens to a job while it runs, and in which order its lane then runs. */
  private enum Fate {
    EDITED("0 new 1 2") {
      @Override
      void befall(Jobs jobs, Connection connection, JobId id, String lane) {
        jobs.payload(connection, id, OptionalInt.empty(), "\"%s/new\"".formatted(lane));
      }
    },
    CANCELLED("0 1 2") {
      @Override
      void befall(Jobs jobs, Connection connection, JobId id, String lane) {
        jobs.cancel(connection, id, OptionalInt.empty());
      }
    },
    DELETED("0 1 2") {
      @Override
      void befall(Jobs jobs, Connection connection, JobId id, String lane) throws SQLException {
        Sql.execute(connection, "DELETE FROM lockstep.job WHERE id = ?", id.value());
      }
    };

    private final String order;

    Fate(String order) {
      this.order = order;
    }

    abstract void befall(Jobs jobs, Connection connection, JobId id, String lane)
        throws SQLException;
  }

  @ParameterizedTest
  @EnumSource
  void theNextWaitsForAJobThatWasChangedBeforeItsShardWasHandedOver(Fate fate) throws Exception {
    Worker first = startWithTheFirstOfEachLaneRunning(desk.jobs());
    befall(fate);

    Worker second = desk.start(4, this::run);
    awaitHalves(first, second);
    theSecondHasLooked();
    assertNothingBeganBesideTheFirst();

    go.countDown();
    assertAllRanAs(fate.order);
  }

  @ParameterizedTest
  @EnumSource
  void theNextWaitsForAJobThatIsChangedAfterItsShardWasHandedOver(Fate fate) throws Exception {
    Worker first = startWithTheFirstOfEachLaneRunning(desk.jobs());
    Worker second = desk.start(4, this::run);
    awaitHalves(first, second);
    theSecondHasLooked();

    befall(fate);
    theSecondHasLooked();
    assertNothingBeganBesideTheFirst();

    go.countDown();
    assertAllRanAs(fate.order);
  }

  @Test
  void theNextWaitsAlsoWhenTheShardIsHandedOnToAThirdNode() throws Exception {
    Worker first = startWithTheFirstOfEachLaneRunning(desk.jobs());
    Worker second = desk.start(4, this::run);
    awaitHalves(first, second);
    befall(Fate.CANCELLED);
    second.close();
    Worker third = desk.start(4, this::run);
    awaitHalves(first, third);
    theSecondHasLooked();
    assertNothingBeganBesideTheFirst();

    go.countDown();
    assertAllRanAs(Fate.CANCELLED.order);
  }

  @Test
  void aHandOverWhoseCommitIsNotAnsweredLeavesNoLaneWaiting() throws Exception {
    try (LostAnswer network = LostAnswer.on(database)) {
      Worker first =
          startWithTheFirstOfEachLaneRunning(
              new Jobs(new Transactor(network.dataSource()), Desk.config()));
      befall(Fate.CANCELLED);
      network.arm("INSERT INTO lockstep.job_away");
      Worker second = desk.start(4, this::run);
      awaitHalves(first, second);
      theSecondHasLooked();
      assertNothingBeganBesideTheFirst();

      go.countDown();
      assertAllRanAs(Fate.CANCELLED.order);
      assertThat(network.fired()).isTrue();
      first.close();
    }
  }

  @Test
  void aNodeThatLostItsLeaseAndCameBackDoesNotBeginALanesJobBesideItsOwn() throws Exception {
    Worker only = startWithTheFirstOfEachLaneRunning(desk.jobs());

    // Taken for dead by the others; it joins again and gets its shards back.
    long epochs = epochs();
    database.execute("DELETE FROM lockstep.shard_member");
    Await.until("it is back", () -> epochs() >= epochs + Desk.SHARDS);
    Await.until("it has all", () -> only.ownedShards() == Desk.SHARDS);
    enqueueOthers();
    Await.until("it has looked", () -> others.get() == 2 * Desk.SHARDS);
    assertNothingBeganBesideTheFirst();

    go.countDown();
    // What was begun under the lost lease is refused.
    assertAllRanAs("0 0 1 2");
  }

  @Test
  void aJobThatRanAtANodeThatIsGoneHoldsUpNoLane() {
    desk.enqueue(Desk.job("\"0/0\"").inLane("lane-0"));
    // Cancelled while it ran, at a node that has crashed since.
    database.execute(
        """
        INSERT INTO lockstep.job_away (shard, id, member, run, queue, priority, lane)
        SELECT shard, id, gen_random_uuid(), 1, queue, priority, lane FROM lockstep.job;
        DELETE FROM lockstep.job""");
    desk.enqueue(Desk.job("\"0/1\"").inLane("lane-0"));

    desk.start(1, this::run);
    desk.awaitNoneLive();

    assertThat(order).containsOnly(Map.entry("0", List.of("1")));
    Await.until("nothing is away", () -> away() == 0);
  }

  /** More handlers than lanes, so that other jobs run, too. */
  private Worker startWithTheFirstOfEachLaneRunning(Jobs jobs) throws Exception {
    List<NewJob> batch = new ArrayList<>();
    for (int n = 0; n < 3; n++) {
      for (int lane = 0; lane < LANES; lane++) {
        batch.add(Desk.job("\"%d/%d\"".formatted(lane, n)).inLane("lane-" + lane));
      }
    }
    desk.transactor()
        .call(c -> desk.jobs().enqueueAll(c, batch))
        .subList(0, LANES)
        .forEach(one -> firsts.add(((EnqueueResult.Created) one).id()));
    Worker worker = desk.start(jobs, Desk.worker(LANES + 2), this::run);
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    return worker;
  }

  private Outcome run(String payload, JobContext job) throws InterruptedException {
    if (!payload.contains("/")) {
      others.incrementAndGet();
      return Outcome.done();
    }
    String[] parts = payload.replace("\"", "").split("/", -1);
    AtomicInteger now = running.computeIfAbsent(parts[0], lane -> new AtomicInteger());
    most.accumulateAndGet(now.incrementAndGet(), Math::max);
    order.computeIfAbsent(parts[0], lane -> new CopyOnWriteArrayList<>()).add(parts[1]);
    if (parts[1].equals("0")) {
      begun.countDown();
      assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
    }
    now.decrementAndGet();
    return Outcome.done();
  }

  private void befall(Fate fate) {
    Jobs jobs = desk.jobs();
    desk.transactor()
        .run(
            c -> {
              for (int lane = 0; lane < LANES; lane++) {
                fate.befall(jobs, c, firsts.get(lane), Integer.toString(lane));
              }
            });
  }

  private static void awaitHalves(Worker first, Worker second) {
    Await.until(
        "half are the other's",
        () -> first.ownedShards() == Desk.SHARDS / 2 && second.ownedShards() == Desk.SHARDS / 2);
  }

  private void enqueueOthers() {
    Jobs jobs = desk.jobs();
    NewJob other = Desk.job("\"other\"");
    desk.transactor().run(c -> jobs.enqueueAll(c, Collections.nCopies(2 * Desk.SHARDS, other)));
  }

  /** Two jobs in each shard, behind what the lanes have: when they are done, all have looked. */
  private void theSecondHasLooked() {
    int before = others.get();
    enqueueOthers();
    Await.until("all have looked", () -> others.get() == before + 2 * Desk.SHARDS);
  }

  private void assertNothingBeganBesideTheFirst() {
    assertThat(order.values()).hasSize(LANES).allMatch(List.of("0")::equals);
  }

  private void assertAllRanAs(String expected) {
    desk.awaitNoneLive();
    assertThat(order.values())
        .hasSize(LANES)
        .allSatisfy(ran -> assertThat(String.join(" ", ran)).isEqualTo(expected));
    assertThat(most).hasValue(1);
    Await.until("nothing is away", () -> away() == 0);
  }

  private static long away() {
    return database.queryLong("SELECT count(*) FROM lockstep.job_away");
  }

  private static long epochs() {
    return database.queryLong("SELECT sum(epoch) FROM lockstep.shard WHERE owner IS NOT NULL");
  }
}
