package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.sql.Connection;
import java.util.List;
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
        .contains(org.assertj.core.groups.Tuple.tuple("slow", 3L));

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
}
