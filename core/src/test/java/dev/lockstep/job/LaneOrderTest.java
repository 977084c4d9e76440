package dev.lockstep.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Jobs of one lane: one at a time and in order; or at most so many at a time. */
class LaneOrderTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated().withPoolSize(40);
  @RegisterExtension final Desk desk = new Desk(database);

  private static final int LANES = 5;
  private static final int EACH = 120;

  private final Map<String, AtomicInteger> running = new ConcurrentHashMap<>();
  private final Map<String, List<Integer>> order = new ConcurrentHashMap<>();
  private final AtomicInteger most = new AtomicInteger();

  @Test
  void aLaneRunsOneAtATimeInOrderOnNodesThatComeAndGo() {
    enqueue(LANES, EACH, 1);
    desk.start(8, this::run);
    desk.start(8, this::run);
    desk.start(8, this::run).close();

    desk.awaitNoneLive();

    assertThat(most).hasValue(1);
    assertThat(order.values())
        .hasSize(LANES)
        .allMatch(IntStream.range(0, EACH).boxed().toList()::equals);
  }

  @Test
  void aJobThatIsRetriedKeepsItsPlaceAndTheLaneWaits() {
    Set<String> failed = ConcurrentHashMap.newKeySet();
    enqueue(LANES, 12, 1);

    desk.start(
        8,
        (payload, job) -> {
          boolean firstTime = failed.add(payload);
          if (firstTime && number(payload) % 3 == 0) {
            return number(payload) % 2 == 0
                ? new Outcome.Retry("again")
                : new Outcome.Snooze(Duration.ofMillis(3));
          }
          return run(payload, job);
        });
    desk.awaitNoneLive();

    assertThat(order.values())
        .hasSize(LANES)
        .allMatch(IntStream.range(0, 12).boxed().toList()::equals);
  }

  @Test
  void aLaneWithALimitRunsThatManyAtATimeAndNotMore() throws Exception {
    CountDownLatch three = new CountDownLatch(3);
    enqueue(1, 30, 3);

    desk.start(
        10,
        (payload, job) -> {
          AtomicInteger now = running.computeIfAbsent(lane(payload), l -> new AtomicInteger());
          most.accumulateAndGet(now.incrementAndGet(), Math::max);
          three.countDown();
          // The first three wait for each other: less would never do.
          assertThat(three.await(30, TimeUnit.SECONDS)).isTrue();
          now.decrementAndGet();
          return Outcome.done();
        });
    desk.awaitNoneLive();

    assertThat(most).hasValue(3);
  }

  @Test
  void aLongLaneDoesNotHoldUpTheOthers() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    enqueue(1, 300, 1);
    desk.start(
        4,
        (payload, job) -> {
          if (payload.contains("\"lane\"")) {
            assertThat(release.await(30, TimeUnit.SECONDS)).isTrue();
          }
          return desk.note(payload, job);
        });

    desk.enqueueMany(100);

    Await.until("the others are done", () -> desk.ran.size() == 100);
    release.countDown();
    desk.awaitNoneLive();
  }

  @Test
  void aDeepLaneKeepsItsOrderThroughRetries() {
    Set<String> failed = ConcurrentHashMap.newKeySet();
    enqueue(2, 400, 1);

    desk.start(
        8,
        (payload, job) ->
            number(payload) % 40 == 39 && failed.add(payload)
                ? new Outcome.Retry("again")
                : run(payload, job));
    desk.awaitNoneLive();

    assertThat(most).hasValue(1);
    assertThat(order.values())
        .hasSize(2)
        .allMatch(IntStream.range(0, 400).boxed().toList()::equals);
  }

  @Test
  void aDeepLaneWithALimitRunsThatManyAtATimeAndNotMore() {
    enqueue(1, 500, 3);

    desk.start(
        8,
        (payload, job) -> {
          AtomicInteger now = running.computeIfAbsent(lane(payload), l -> new AtomicInteger());
          most.accumulateAndGet(now.incrementAndGet(), Math::max);
          Outcome outcome = desk.note(payload, job);
          now.decrementAndGet();
          return outcome;
        });
    desk.awaitNoneLive();

    assertThat(most.get()).isLessThanOrEqualTo(3);
    assertThat(desk.ran).hasSize(500).doesNotHaveDuplicates();
  }

  @Test
  void aDeepLaneGoesOnWhenTheJobItWaitsForIsCancelled() {
    enqueue(1, 500, 1);
    desk.start(
        2,
        (payload, job) ->
            number(payload) == 0
                ? new Outcome.Snooze(Duration.ofHours(1))
                : desk.note(payload, job));
    Await.until(
        "the first waits",
        () ->
            database.queryLong("SELECT count(*) FROM lockstep.job WHERE wait_until > now()") == 1);
    JobId first =
        database
            .query(
                "SELECT id::text FROM lockstep.job WHERE wait_until > now()",
                row -> JobId.of(row.getString(1)))
            .get(0);

    desk.transactor().run(c -> desk.jobs().cancel(c, first, OptionalInt.empty()));
    desk.awaitNoneLive();

    assertThat(desk.ran).hasSize(499);
  }

  private Outcome run(String payload, JobContext job) {
    AtomicInteger now = running.computeIfAbsent(lane(payload), l -> new AtomicInteger());
    most.accumulateAndGet(now.incrementAndGet(), Math::max);
    order.computeIfAbsent(lane(payload), l -> new ArrayList<>()).add(number(payload));
    now.decrementAndGet();
    return Outcome.done();
  }

  private void enqueue(int lanes, int each, int limit) {
    desk.transactor()
        .run(
            connection -> {
              List<NewJob> batch = new ArrayList<>();
              for (int n = 0; n < each; n++) {
                for (int lane = 0; lane < lanes; lane++) {
                  batch.add(
                      Desk.job("{\"lane\":%d,\"n\":%d}".formatted(lane, n))
                          .inLane(new NewJob.Lane("lane-" + lane, limit)));
                }
              }
              desk.jobs().enqueueAll(connection, batch);
            });
  }

  private static String lane(String payload) {
    return payload.substring(0, payload.indexOf(','));
  }

  private static int number(String payload) {
    return Integer.parseInt(payload.substring(payload.lastIndexOf(':') + 1, payload.length() - 1));
  }
}
