package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a listener of a relay hears of real deliveries and cursors. */
class RelayListenerTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);

  private final AtomicInteger delivered = new AtomicInteger();
  private final AtomicInteger failed = new AtomicInteger();
  private final AtomicInteger accepted = new AtomicInteger();
  private final AtomicInteger stale = new AtomicInteger();

  private final RelayListener listener =
      new RelayListener() {
        @Override
        public void onDelivery(String stream, String sink, int had, int refused) {
          assertThat(stream).isEqualTo(post.stream);
          assertThat(sink).isEqualTo("sink");
          delivered.addAndGet(had);
          failed.addAndGet(refused);
        }

        @Override
        public void onCursors(int written, int refused) {
          accepted.addAndGet(written);
          stale.addAndGet(refused);
        }
      };

  @Test
  void whatIsDeliveredAndWhatFailsIsHeardOf() {
    post.define("sink");
    AtomicInteger left = new AtomicInteger(3);
    post.sink.behaviour =
        event ->
            event.key().equals("b") && left.getAndDecrement() > 0
                ? new SinkResult.RetryLater("not yet")
                : SinkResult.DELIVERED;
    post.start(Post.relayConfig().withListener(listener), post.types());
    post.append("a", "b", "c");

    Await.until("all are delivered", () -> delivered.get() == 3);
    assertThat(failed).hasValue(3);
    Await.until("a cursor is written", () -> accepted.get() > 0);
    assertThat(stale).hasValue(0);
  }

  @Test
  void aListenerThatThrowsHoldsNothingUp() {
    post.define("sink");
    RelayListener thrower =
        new RelayListener() {
          @Override
          public void onDelivery(String stream, String sink, int had, int refused) {
            throw new IllegalStateException("a counter is full");
          }

          @Override
          public void onCursors(int written, int refused) {
            throw new StackOverflowError();
          }
        };
    Relay relay = post.start(Post.relayConfig().withListener(thrower), post.types());
    post.append("a");
    post.awaitDelivered(1);
    Await.until("written down", () -> relay.isAtRest().join());
    post.append("a");
    post.awaitDelivered(2);

    assertThat(post.sink.seqs("a")).containsExactly(1L, 2L);
  }

  @Test
  void anInterruptThatAListenerLeavesBehindEndsNoRelay() {
    post.define("sink");
    RelayListener interrupter =
        new RelayListener() {
          @Override
          public void onDelivery(String stream, String sink, int had, int refused) {
            Thread.currentThread().interrupt();
          }

          @Override
          public void onCursors(int written, int refused) {
            Thread.currentThread().interrupt();
          }
        };
    Relay relay = post.start(Post.relayConfig().withListener(interrupter), post.types());
    for (int i = 1; i <= 3; i++) {
      post.append("a");
      post.awaitDelivered(i);
    }
    Await.until("written down", () -> relay.isAtRest().join());

    assertThat(relay.health().state()).isEqualTo(RelayHealth.State.RELAYING);
    assertThat(post.sink.seqs("a")).containsExactly(1L, 2L, 3L);
  }

  @Test
  void theCursorOfARelayThatLostItsPartitionIsStale() throws Exception {
    CountDownLatch holding = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    post.define("sink");
    post.sink.behaviour =
        event -> {
          holding.countDown();
          try {
            assertThat(go.await(60, TimeUnit.SECONDS)).isTrue();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          return SinkResult.DELIVERED;
        };
    post.start(
        // Its heart beats so seldom that it does not notice.
        Post.relayConfig()
            .withLease(Post.LONG, Duration.ofMinutes(4))
            .withCloseTimeout(Duration.ZERO)
            .withListener(listener),
        post.types());
    post.append("a");
    assertThat(holding.await(60, TimeUnit.SECONDS)).isTrue();
    int before = accepted.get();
    database.execute("UPDATE lockstep.shard SET epoch = epoch + 1 WHERE shard_group = 'outbox'");
    go.countDown();

    Await.until("its cursor is refused", () -> stale.get() > 0);
    assertThat(accepted).hasValue(before);
  }
}
