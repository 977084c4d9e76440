package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.outbox.SinkActionResult.Changed;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A replay sends events again; it never skips one that was not delivered. */
class ReplayTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);

  @Test
  void aKeyThatIsRetriedWhileAllIsReplayedGetsWhatItNeverHad() {
    Outbox outbox = post.define("sink");
    post.sink.behaviour = event -> isLate(event) ? new SinkResult.Poison("no") : delivered();
    post.start();
    appendFive();
    awaitAllBut("late");

    post.sink.behaviour = event -> delivered();
    post.transactor()
        .run(
            c -> {
              assertThat(outbox.retry(c, post.stream, "sink", "late", "ann", "mended"))
                  .isEqualTo(new Changed());
              assertThat(outbox.replayAll(c, post.stream, "sink", 4, "ann", "lost"))
                  .isEqualTo(new Changed());
            });
    awaitNoLag();

    assertThat(post.sink.seqs("late")).containsExactly(1L, 2L, 3L, 4L, 5L);
    assertThat(post.sink.seqs("other")).containsExactly(1L, 2L, 3L, 4L, 5L, 4L, 5L);
  }

  @Test
  void aKeyThatWaitsWhileAllIsReplayedGetsWhatItNeverHad() {
    Outbox outbox = post.define("sink");
    post.sink.behaviour =
        event -> isLate(event) ? new SinkResult.RetryLater("not yet") : delivered();
    post.start(Post.relayConfig().withMaxAttempts(100_000), post.types());
    appendFive();
    awaitAllBut("late");

    post.transactor().run(c -> outbox.replayAll(c, post.stream, "sink", 4, "ann", "lost"));
    Await.until("replayed", () -> post.sink.seqs("other").size() == 7);
    post.sink.behaviour = event -> delivered();
    awaitNoLag();

    assertThat(post.sink.seqs("late")).containsExactly(1L, 2L, 3L, 4L, 5L);
  }

  @Test
  void aReplayFromBeyondWhatWasDeliveredSkipsNothing() {
    Outbox outbox = post.define("sink");
    post.sink.behaviour = event -> event.seq() < 3 ? delivered() : new SinkResult.Down("down");
    post.append("a", "a", "a", "a", "a", "a");
    Relay relay = post.start(Post.relayConfig().withBatchRows(2), post.types());
    Await.until(
        "in the middle of a step",
        () ->
            database.queryLong(
                    "SELECT count(*) FROM lockstep.outbox_cursor"
                        + " WHERE target IS NOT NULL AND delivered = 2")
                == 1);
    post.stop(relay);

    assertThat(replay(outbox, "a", 5)).isEqualTo(new Changed());
    post.sink.behaviour = event -> delivered();
    post.start();
    awaitNoLag();

    assertThat(post.sink.seqs("a")).containsExactly(1L, 2L, 3L, 4L, 5L, 6L);
  }

  @Test
  void aReplayOfAKeyWithinAReplayOfAllSendsNothingFromBeforeBoth() {
    Outbox outbox = post.define("sink");
    Relay relay = post.start();
    post.append("a", "a", "a", "a", "a", "a");
    awaitNoLag();
    post.stop(relay);
    post.transactor().run(c -> outbox.replayAll(c, post.stream, "sink", 4, "ann", "lost"));

    assertThat(replay(outbox, "a", 5)).isEqualTo(new Changed());
    post.start();
    awaitNoLag();

    assertThat(post.sink.seqs("a")).containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 4L, 5L, 6L);
  }

  @Test
  void anOpenReplayGoesOnFromTheEarlierOfTwoSequences() {
    Outbox outbox = post.define("sink");
    post.start();
    appendFive();
    awaitNoLag();

    post.transactor()
        .run(
            c -> {
              outbox.replayAll(c, post.stream, "sink", 2, "ann", "lost");
              outbox.replayAll(c, post.stream, "sink", 4, "bob", "lost, too");
            });
    awaitNoLag();

    assertThat(post.sink.seqs("other")).containsExactly(1L, 2L, 3L, 4L, 5L, 2L, 3L, 4L, 5L);
  }

  @Test
  void aFailureUnderWayDoesNotOverwriteTheReplayOfItsKey() throws Exception {
    Outbox outbox = post.define("sink");
    failAfterAnOrder(() -> replay(outbox, "a", 1));

    assertThat(post.sink.seqs("a")).containsExactly(1L, 1L);
    assertThat(parked()).extracting(ParkedKey::seq).containsExactly(2L);
  }

  @Test
  void aFailureUnderWayDoesNotTakeItsKeyOutOfTheReplayOfAll() throws Exception {
    Outbox outbox = post.define("sink");
    failAfterAnOrder(
        () ->
            post.transactor()
                .call(c -> outbox.replayAll(c, post.stream, "sink", 1, "ann", "lost")));

    assertThat(post.sink.seqs("a")).containsExactly(1L, 1L);
    assertThat(parked()).extracting(ParkedKey::seq).containsExactly(2L);
  }

  /** The order is given while the sink is about to call the second event of "a" poison. */
  private void failAfterAnOrder(Callable<SinkActionResult> order) throws Exception {
    CountDownLatch sending = new CountDownLatch(1);
    CountDownLatch ordered = new CountDownLatch(1);
    post.sink.behaviour =
        event -> {
          if (event.seq() == 1) {
            return delivered();
          }
          sending.countDown();
          await(ordered);
          return new SinkResult.Poison("no");
        };
    post.start();
    post.append("a");
    awaitNoLag();
    post.append("a");
    await(sending);
    assertThat(order.call()).isEqualTo(new Changed());
    ordered.countDown();
    Await.until("sent again", () -> post.sink.seqs("a").size() == 2);
    Await.until(
        "parked",
        () -> parked().stream().anyMatch(one -> one.seq() == 2 && one.retryAt().isEmpty()));
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private SinkActionResult replay(Outbox outbox, String key, long fromSeq) {
    return post.transactor()
        .call(c -> outbox.replay(c, post.stream, "sink", key, fromSeq, "ann", "lost"));
  }

  private static boolean isLate(Event event) {
    return event.key().equals("late") && event.seq() >= 2;
  }

  private static SinkResult delivered() {
    return SinkResult.DELIVERED;
  }

  private void appendFive() {
    for (int i = 0; i < 5; i++) {
      post.append("late", "other");
    }
  }

  /** The key is passed by, the cursors are past everything. */
  private void awaitAllBut(String key) {
    Await.until("passed by", () -> parked().stream().anyMatch(one -> one.key().equals(key)));
    Await.until(
        "the rest",
        () -> {
          SinkLag lag = post.outbox().lags(post.stream).get(0);
          return lag.events() == 0 && lag.heldBack() == 4;
        });
  }

  private List<ParkedKey> parked() {
    return post.outbox().parked(post.stream, "sink", Optional.empty(), 10);
  }

  private void awaitNoLag() {
    Await.until(
        "all delivered",
        () -> parked().isEmpty() && post.outbox().lags(post.stream).get(0).events() == 0);
  }
}
