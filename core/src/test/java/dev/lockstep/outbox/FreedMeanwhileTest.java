package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.fault.LockstepException;
import dev.lockstep.outbox.ChangeResult.Changed;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.sql.Connection;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Events are freed at the moment at which an operator comes to need them. */
class FreedMeanwhileTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);
  private final SegmentWear wear = new SegmentWear(database);
  private Outbox keeping;
  private Outbox freeing;

  @BeforeEach
  void reachASegment() {
    keeping = outbox(Duration.ofHours(1));
    freeing = outbox(Duration.ZERO);
    wear.reachASegment(freeing);
    post.define("sink");
  }

  private Outbox outbox(Duration keep) {
    return new Outbox(post.transactor(), Post.config().withKeep(keep), SegmentWear.WIDTH);
  }

  /** Delivers everything, and lets the sink's cursor pass it. */
  private void deliver(int count) {
    Relay relay = post.start();
    post.awaitDelivered(count);
    Await.until("at rest", () -> relay.isAtRest().join());
    wear.burn(1);
    post.append("later");
    post.awaitDelivered(count + 1);
    post.stop(relay);
  }

  private ChangeResult replay(Connection operator) {
    return keeping.replay(operator, post.stream, "sink", "a", 1, "ann", "the consumer lost them");
  }

  /** The operator commits when the freeing has come to wait for it. */
  private void replayWhileFreeing() throws Exception {
    Thread upkeep;
    try (Connection operator = database.connection()) {
      operator.setAutoCommit(false);
      assertThat(replay(operator)).isEqualTo(new Changed());
      // Each wait is short, so it tries until one was seen.
      upkeep =
          new Thread(
              () -> {
                while (!Thread.currentThread().isInterrupted()) {
                  freeing.maintain();
                }
              });
      upkeep.start();
      Await.blocked(database, 1);
      operator.commit();
    }
    upkeep.interrupt();
    upkeep.join();
  }

  @Test
  void aReplayIsSentAlthoughItsSegmentWasAboutToBeEmptied() throws Exception {
    post.append("a", "a", "a");
    wear.closeSegments(keeping);
    deliver(3);

    replayWhileFreeing();

    post.start();
    post.awaitDelivered(7);
    assertThat(post.sink.seqs("a")).containsExactly(1L, 2L, 3L, 1L, 2L, 3L);
  }

  @Test
  void aReplayHasNoGapAlthoughTheFirstOfItsSegmentsWasAboutToBeEmptied() throws Exception {
    post.append("a", "a");
    wear.closeSegments(keeping);
    post.append("a", "a");
    deliver(4);

    replayWhileFreeing();

    post.start();
    post.awaitDelivered(9);
    assertThat(post.sink.seqs("a")).containsExactly(1L, 2L, 3L, 4L, 1L, 2L, 3L, 4L);
  }

  @Test
  void aReplayKeepsWhatLiesBesideTheSegments() throws Exception {
    wear.burn(wear.left() + 1);
    post.append("a", "a");
    deliver(2);
    try (Connection operator = database.connection()) {
      operator.setAutoCommit(false);
      assertThat(replay(operator)).isEqualTo(new Changed());
      freeing.maintain();
      operator.commit();
    }

    post.start();
    post.awaitDelivered(5);
    assertThat(post.sink.seqs("a")).containsExactly(1L, 2L, 1L, 2L);
  }

  /** Its snapshot still shows what was deleted after it. */
  @Test
  void aReplayThatSeesAnOlderStateIsRefusedRatherThanLost() throws Exception {
    wear.burn(wear.left() + 1);
    post.append("a", "a");
    deliver(2);
    try (Connection operator = database.connection()) {
      operator.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      operator.setAutoCommit(false);
      try (var statement = operator.createStatement()) {
        statement.execute("SELECT count(*) FROM lockstep.outbox_layout");
      }
      wear.burn(1);
      freeing.maintain();
      assertThat(freeing.events(post.stream, "a", 0, 10)).isEmpty();

      assertThatThrownBy(() -> replay(operator)).isInstanceOf(LockstepException.class);
      operator.rollback();
    }
  }
}
