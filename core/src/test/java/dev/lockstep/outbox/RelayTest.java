package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a relay delivers, when, and how it goes on. */
class RelayTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);

  @Test
  void eventsArriveInTheOrderOfTheirKeys() {
    post.define("sink");
    post.append("a", "b", "a");
    post.start();
    post.append("a", "c", "b");

    post.awaitDelivered(6);

    assertThat(post.sink.seqs("a")).containsExactly(1L, 2L, 3L);
    assertThat(post.sink.seqs("b")).containsExactly(1L, 2L);
    assertThat(post.sink.seqs("c")).containsExactly(1L);
    Await.until("no lag", () -> post.outbox().lags(post.stream).get(0).events() == 0);
    assertThat(post.outbox().lags(post.stream).get(0).delivered()).isEqualTo(6);
  }

  @Test
  void aRestartedRelayGoesOnWhereTheLastOneEnded() {
    post.define("sink");
    Relay first = post.start();
    post.append("a", "b");
    post.awaitDelivered(2);
    post.stop(first);
    post.append("a");

    post.start();
    post.awaitDelivered(3);
    post.append("b");
    post.awaitDelivered(4);

    assertThat(post.sink.seqs("a")).containsExactly(1L, 2L);
    assertThat(post.sink.seqs("b")).containsExactly(1L, 2L);
  }

  @Test
  void eachSinkHasItsOwnProgress() {
    MemorySink slow = new MemorySink();
    slow.behaviour = event -> new SinkResult.Down("not today");
    post.define("fast", "slow");
    post.start(
        Post.relayConfig(),
        post.types()
            .with(
                MemorySink.TYPE, (stream, spec) -> spec.name().equals("slow") ? slow : post.sink));
    post.append("a", "b", "a");
    post.awaitDelivered(3);
    Await.until("tried", () -> slow.calls.get() > 2);
    assertThat(post.outbox().lags(post.stream))
        .extracting(SinkLag::sink, SinkLag::events)
        .contains(tuple("slow", 3L));

    slow.behaviour = event -> SinkResult.DELIVERED;

    Await.until("caught up", () -> slow.delivered.size() == 3);
    assertThat(slow.seqs("a")).containsExactly(1L, 2L);
    assertThat(post.sink.delivered).hasSize(3);
  }

  @Test
  void aTransactionLeftOpenDelaysNobodyElsesEvents() throws Exception {
    Outbox outbox = post.define("sink");
    post.start();
    try (Connection open = database.connection()) {
      open.setAutoCommit(false);
      outbox.append(open, post.event("stuck"));

      for (int i = 1; i <= 50; i++) {
        post.append("free");
        post.awaitDelivered(i);
      }

      assertThat(post.sink.seqs("free")).hasSize(50);
      assertThat(post.sink.seqs("stuck")).isEmpty();
      open.commit();
    }
    post.awaitDelivered(51);
    assertThat(post.sink.seqs("stuck")).containsExactly(1L);
  }

  @Test
  void aTransactionThatBeganEarlierAndCommitsLaterComesLater() throws Exception {
    Outbox outbox = post.define("sink");
    try (Connection early = database.connection()) {
      early.setAutoCommit(false);
      // Has its id before the other begins, and waits for nothing.
      outbox.append(early, post.event("other"));
      post.append("a");
      outbox.append(early, post.event("a"));
      early.commit();
    }
    post.append("a");

    post.start(Post.relayConfig().withBatchRows(1), post.types());
    post.awaitDelivered(4);

    assertThat(post.sink.seqs("a")).containsExactly(1L, 2L, 3L);
  }

  @Test
  void oneHugeTransactionIsReadInBoundedBatches() {
    Outbox outbox = post.define("sink");
    int count = 5_000;
    List<NewEvent> events =
        LongStream.range(0, count).mapToObj(i -> post.event("k" + i % 10)).toList();
    post.transactor().run(connection -> outbox.appendAll(connection, events));
    Relay first =
        post.start(Post.relayConfig().withBatchRows(100).withBatchBytes(150), post.types());
    post.awaitDelivered(count / 4);
    // In the middle of a step.
    post.stop(first);

    post.start(Post.relayConfig().withBatchRows(100), post.types());
    post.awaitDelivered(count);

    assertThat(post.sink.largestBatch.get()).isEqualTo(100);
    List<Long> all = LongStream.rangeClosed(1, count / 10).boxed().toList();
    for (int k = 0; k < 10; k++) {
      assertThat(post.sink.seqs("k" + k)).isEqualTo(all);
    }
  }

  @Test
  void aCursorByIdLosesWhatCommitsLate() throws Exception {
    Outbox outbox = post.define("sink");
    post.start(Post.relayConfig(), post.types(), new IdSource(post.transactor()));
    // Two keys of one partition; the first to append is the last to commit.
    String slow = "slow";
    String quick = keyBeside(slow);
    try (Connection open = database.connection()) {
      open.setAutoCommit(false);
      outbox.append(open, post.event(slow));
      post.append(quick);
      post.awaitDelivered(1);
      open.commit();
    }
    post.append(slow);
    post.awaitDelivered(2);

    ConsumerLog log = new ConsumerLog();
    post.sink.delivered.forEach(event -> log.note(event.key(), event.seq()));
    assertThat(log.faults()).containsExactly(slow + ": 2 came after 0");
  }

  private String keyBeside(String key) {
    short part = Partitioning.partOf(post.stream, key, Post.PARTITIONS);
    return IntStream.range(0, 1_000)
        .mapToObj(i -> "beside-" + i)
        .filter(k -> Partitioning.partOf(post.stream, k, Post.PARTITIONS) == part)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aNotificationWakesARelayThatSleeps() {
    post.define("sink");
    Relay relay =
        post.start(
            Post.relayConfig()
                .withPollInterval(Duration.ofMinutes(10))
                .withListen(database.dataSource()),
            post.types());
    Await.until("owns all", () -> relay.ownedPartitions() == Post.PARTITIONS);
    post.append("a");
    post.awaitDelivered(1);
    Await.until(
        "listens",
        () ->
            database.queryLong(
                    "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN lockstep_outbox%'")
                > 0);

    post.append("a");

    post.awaitDelivered(2);
  }

  @Test
  void partitionsAreHandedOverWithoutARepeat() {
    post.define("sink");
    Relay first = post.start();
    for (int i = 0; i < 20; i++) {
      post.append("k" + i);
    }
    post.awaitDelivered(20);

    Relay second = post.start();
    Await.until("shared", () -> first.ownedPartitions() == 2 && second.ownedPartitions() == 2);
    for (int i = 0; i < 20; i++) {
      post.append("k" + i);
    }
    post.awaitDelivered(40);
    post.stop(first);
    Await.until("all its own", () -> second.ownedPartitions() == 4);
    for (int i = 0; i < 20; i++) {
      post.append("k" + i);
    }
    post.awaitDelivered(60);

    for (int i = 0; i < 20; i++) {
      assertThat(post.sink.seqs("k" + i)).containsExactly(1L, 2L, 3L);
    }
  }

  @Test
  void aSinkOfSingleEventsHasOneOfAKeyOnItsWayAndASlowKeyHoldsUpNoOther() throws Exception {
    SlowSink slow = new SlowSink();
    post.define("sink");
    post.start(
        Post.relayConfig(), SinkTypes.standard().with(MemorySink.TYPE, (stream, spec) -> slow));
    String key = "slow";
    String other = keyBeside(key);
    post.append(key, key, other, other, other);

    Await.until("the other key is through", () -> slow.answered(other) == 3);
    assertThat(slow.answered(key)).isZero();
    slow.letGo.countDown();

    Await.until("all", () -> slow.answered(key) == 2);
    assertThat(slow.faults).isEmpty();
  }

  /** Keeps events of the key "slow" until it is told; answers the others at once. */
  private static final class SlowSink implements Sink, Session {
    final CountDownLatch letGo = new CountDownLatch(1);
    final Queue<String> faults = new ConcurrentLinkedQueue<>();
    private final Set<String> onTheirWay = ConcurrentHashMap.newKeySet();
    private final Map<String, Integer> answered = new ConcurrentHashMap<>();

    int answered(String key) {
      return answered.getOrDefault(key, 0);
    }

    @Override
    public int maxInFlight() {
      return 3;
    }

    @Override
    public Session open(SessionLease lease) {
      return this;
    }

    @Override
    public CompletionStage<List<SinkResult>> deliver(List<Event> events) {
      Event event = events.get(0);
      if (events.size() != 1 || !onTheirWay.add(event.key())) {
        faults.add(event.toString());
      }
      return CompletableFuture.supplyAsync(
          () -> {
            if (event.key().equals("slow")) {
              try {
                letGo.await();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            }
            onTheirWay.remove(event.key());
            answered.merge(event.key(), 1, Integer::sum);
            return List.of(SinkResult.DELIVERED);
          },
          task -> new Thread(task).start());
    }

    @Override
    public void close() {}
  }
}
