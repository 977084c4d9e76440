package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A relay that is stopped in a delivery for longer than its lease, and goes on. */
class FencedRelayTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);

  private final CountDownLatch holding = new CountDownLatch(1);
  private final CountDownLatch go = new CountDownLatch(1);

  @Test
  void itsProgressIsRefusedAndItsSuccessorsStands() throws Exception {
    post.define("sink");
    MemorySink stale = new MemorySink();
    stale.behaviour =
        event -> {
          hold();
          return SinkResult.DELIVERED;
        };
    Relay first = startStale(stale);
    post.append("a");
    assertThat(holding.await(60, TimeUnit.SECONDS)).isTrue();
    post.age("stale");
    Relay second = post.start();
    post.append("a", "a");
    post.awaitDelivered(3);
    post.stop(second);
    List<String> cursors = cursors();

    go.countDown();
    Await.until("delivered late", () -> !stale.delivered.isEmpty());
    Await.until("written, or refused", () -> first.isAtRest().join());
    post.stop(first);

    assertThat(cursors()).isEqualTo(cursors);
    post.start();
    post.append("a");
    post.awaitDelivered(4);
    assertThat(post.sink.seqs("a")).containsExactly(1L, 2L, 3L, 4L);
  }

  @Test
  void aSinkThatOpensWhenTheLeaseIsOverGetsNothing() throws Exception {
    post.define("sink");
    MemorySink stale = new MemorySink();
    stale.opening = this::hold;
    Relay first = startStale(stale);
    post.append("a");
    assertThat(holding.await(60, TimeUnit.SECONDS)).isTrue();
    post.age("stale");
    post.start();
    post.awaitDelivered(1);

    // It would now fence its successor, and go on with what it had read.
    go.countDown();
    Await.until(
        "closed, or used", () -> stale.sessionsClosed.get() > 0 || !stale.delivered.isEmpty());
    post.stop(first);

    assertThat(stale.delivered).isEmpty();
    assertThat(post.sink.seqs("a")).containsExactly(1L);
  }

  @Test
  void aStaleRelayParksNothing() throws Exception {
    post.define("sink");
    MemorySink stale = holding(new SinkResult.Poison("it thinks"));
    Relay first = startStale(stale);
    post.append("a");

    afterItWasSucceeded(first, () -> assertThat(parked()).isEmpty());
  }

  @Test
  void aStaleRelayChangesNothingOfAKeyThatWaits() throws Exception {
    post.define("sink");
    post.append("a");
    keyWaits();
    MemorySink stale = holding(new SinkResult.RetryLater("it thinks"));
    Relay first = startStale(stale);
    List<String> before = parked();

    afterItWasSucceeded(first, () -> assertThat(parked()).isEqualTo(before));
  }

  @Test
  void aStaleRelayFreesNoKey() throws Exception {
    post.define("sink");
    post.append("a");
    keyWaits();
    MemorySink stale = holding(SinkResult.DELIVERED);
    Relay first = startStale(stale);
    List<String> before = parked();

    afterItWasSucceeded(first, () -> assertThat(parked()).isEqualTo(before));
  }

  /** What the stale relay wanted to write is refused, since its partitions are another's now. */
  private void afterItWasSucceeded(Relay stale, Runnable check) throws Exception {
    assertThat(holding.await(60, TimeUnit.SECONDS)).isTrue();
    List<String> cursors = cursors();
    database.execute("UPDATE lockstep.shard SET epoch = epoch + 1 WHERE shard_group = 'outbox'");
    go.countDown();
    Await.until("written, or refused", () -> stale.isAtRest().join());
    post.stop(stale);
    check.run();
    assertThat(cursors()).isEqualTo(cursors);
  }

  /** The key has failed before, under another owner, and its time has come. */
  private void keyWaits() {
    MemorySink failing = new MemorySink();
    failing.behaviour = event -> new SinkResult.RetryLater("not yet");
    Relay relay =
        post.start(
            Post.relayConfig().withMaxAttempts(1_000),
            SinkTypes.standard().with(MemorySink.TYPE, (stream, spec) -> failing));
    Await.until("it waits", () -> !parked().isEmpty());
    post.stop(relay);
    database.execute("UPDATE lockstep.outbox_parked SET retry_at = now()");
  }

  private MemorySink holding(SinkResult result) {
    MemorySink sink = new MemorySink();
    sink.behaviour =
        event -> {
          hold();
          return result;
        };
    return sink;
  }

  private static List<String> parked() {
    return database.query(
        "SELECT p::text FROM lockstep.outbox_parked p ORDER BY p.key", row -> row.getString(1));
  }

  /** Its heart beats so seldom that its lease can pass without its noticing. */
  private Relay startStale(MemorySink sink) {
    return post.start(
        RelayConfig.named("stale")
            .withLease(Post.LONG, Duration.ofMinutes(4))
            .withPollInterval(Duration.ofMillis(20))
            .withCloseTimeout(Duration.ZERO),
        SinkTypes.standard().with(MemorySink.TYPE, (stream, spec) -> sink));
  }

  private void hold() {
    holding.countDown();
    try {
      assertThat(go.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static List<String> cursors() {
    return database.query(
        "SELECT c::text FROM lockstep.outbox_cursor c ORDER BY c.part", row -> row.getString(1));
  }
}
