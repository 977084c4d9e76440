package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.outbox.ChangeResult.Changed;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.util.List;
import java.util.Optional;
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
    post.sink.behaviour = event -> isLate(event) ? new SinkResult.Retry("not yet") : delivered();
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

  private ChangeResult replay(Outbox outbox, String key, long fromSeq) {
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
