package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.lockstep.outbox.SinkActionResult.Changed;
import dev.lockstep.outbox.SinkActionResult.EventsDropped;
import dev.lockstep.outbox.SinkActionResult.NotParked;
import dev.lockstep.outbox.SinkActionResult.OtherSeq;
import dev.lockstep.outbox.SinkActionResult.UnknownKey;
import dev.lockstep.outbox.SinkActionResult.UnknownSink;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import dev.lockstep.tx.TxWork;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Events that cannot be delivered, and what people do about them. */
class ParkingTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);

  /** The second event of "bad" is poison. */
  private void poison() {
    post.sink.behaviour =
        event ->
            event.key().equals("bad") && event.seq() == 2
                ? new SinkResult.Poison("too large")
                : SinkResult.DELIVERED;
  }

  private void heal() {
    post.sink.behaviour = event -> SinkResult.DELIVERED;
  }

  private List<ParkedKey> parked() {
    return post.outbox().parked(post.stream, "sink", Optional.empty(), 10);
  }

  private void awaitParked(int count) {
    Await.until(count + " parked", () -> parked().size() == count);
  }

  private <T> T committed(TxWork<T> work) {
    return post.transactor().call(work);
  }

  private SinkActionResult retry(String key) {
    return committed(c -> post.outbox().retry(c, post.stream, "sink", key, "ann", "mended"));
  }

  private SinkActionResult skip(String key, long seq) {
    return committed(
        c -> post.outbox().skip(c, post.stream, "sink", key, seq, "ann", "known to be broken"));
  }

  private SinkActionResult replay(String key, long seq) {
    return committed(c -> post.outbox().replay(c, post.stream, "sink", key, seq, "ann", "lost"));
  }

  @Test
  void poisonParksItsKeyAndTheOthersFlow() {
    Outbox outbox = post.define("sink");
    poison();
    post.start();
    post.append("bad", "bad", "bad", "good");
    awaitParked(1);
    post.append("bad", "good");
    post.awaitDelivered(3);

    assertThat(post.sink.seqs("bad")).containsExactly(1L);
    assertThat(post.sink.seqs("good")).containsExactly(1L, 2L);
    assertThat(parked().get(0))
        .extracting(ParkedKey::key, ParkedKey::seq, ParkedKey::attempts, ParkedKey::error)
        .containsExactly("bad", 2L, 1, "too large");
    Await.until("no lag beside it", () -> outbox.lags(post.stream).get(0).events() == 0);
    assertThat(outbox.lags(post.stream).get(0))
        .extracting(SinkLag::parkedKeys, SinkLag::waitingKeys, SinkLag::heldBack)
        .containsExactly(1, 0, 3L);
  }

  @Test
  void aParkedKeyGoesOnInOrderWhenItIsRetriedWhoeverRelaysThen() {
    post.define("sink");
    poison();
    Relay first = post.start();
    post.append("bad", "bad", "bad");
    awaitParked(1);
    post.stop(first);
    post.append("bad");
    Relay second = post.start();
    post.append("bad", "good");
    post.awaitDelivered(2);
    assertThat(second.ownedPartitions()).isPositive();

    heal();
    assertThat(retry("bad")).isEqualTo(new Changed());
    post.awaitDelivered(6);
    awaitParked(0);
    post.append("bad");
    post.awaitDelivered(7);

    assertThat(post.sink.seqs("bad")).containsExactly(1L, 2L, 3L, 4L, 5L, 6L);
    assertThat(retry("bad")).isEqualTo(new NotParked());
  }

  @Test
  void aRetryThatFailsLeavesItParked() {
    post.define("sink");
    poison();
    post.start();
    post.append("bad", "bad");
    awaitParked(1);
    int calls = post.sink.calls.get();

    retry("bad");
    Await.until("tried again", () -> post.sink.calls.get() > calls);
    Await.until("and parked again", () -> parked().get(0).retryAt().isEmpty());

    assertThat(parked().get(0).seq()).isEqualTo(2);
    assertThat(post.sink.seqs("bad")).containsExactly(1L);
  }

  @Test
  void aSkipLeavesOneEventOutAndNamesWhoAndWhy() {
    Outbox outbox = post.define("sink");
    poison();
    post.start();
    post.append("bad", "bad", "bad", "bad");
    awaitParked(1);

    assertThat(skip("bad", 1)).isEqualTo(new OtherSeq(2));
    assertThat(skip("good", 1)).isEqualTo(new NotParked());
    SinkActionResult nowhere =
        committed(c -> outbox.skip(c, post.stream, "nowhere", "bad", 2, "ann", "because"));
    assertThat(nowhere).isEqualTo(new UnknownSink());
    assertThat(skip("bad", 2)).isEqualTo(new Changed());
    post.awaitDelivered(3);

    assertThat(post.sink.seqs("bad")).containsExactly(1L, 3L, 4L);
    assertThat(outbox.audit(post.stream, OptionalLong.empty(), 10))
        .extracting(AuditEntry::action, AuditEntry::actor, AuditEntry::reason)
        .containsExactly(
            tuple("skip", "ann", "known to be broken"), tuple("add", "test", "type memory"));
    assertThat(outbox.audit(post.stream, OptionalLong.empty(), 1).get(0))
        .extracting(entry -> entry.key().orElseThrow(), entry -> entry.seq().orElseThrow())
        .containsExactly("bad", 2L);
  }

  @Test
  void aRollbackTakesAnOperatorsOrderBack() throws Exception {
    post.define("sink");
    poison();
    post.start();
    post.append("bad", "bad");
    awaitParked(1);
    try (var connection = database.connection()) {
      connection.setAutoCommit(false);
      assertThat(post.outbox().skip(connection, post.stream, "sink", "bad", 2, "ann", "oops"))
          .isEqualTo(new Changed());
      connection.rollback();
    }
    assertThat(skip("bad", 2)).isEqualTo(new Changed());
    awaitParked(0);
  }

  @Test
  void aKeyIsReplayedFromASequenceOn() {
    post.define("sink");
    Relay relay = post.start();
    post.append("a", "a", "a", "b");
    post.awaitDelivered(4);
    // Until then an order has to suppose that nothing was delivered.
    Await.until("written down", () -> relay.isAtRest().join());

    assertThat(replay("nobody", 1)).isEqualTo(new UnknownKey());
    assertThat(replay("a", 9)).isEqualTo(new UnknownKey());
    assertThat(replay("a", 2)).isEqualTo(new Changed());
    post.awaitDelivered(6);
    awaitParked(0);
    post.append("a");
    post.awaitDelivered(7);

    assertThat(post.sink.seqs("a")).containsExactly(1L, 2L, 3L, 2L, 3L, 4L);
    assertThat(post.sink.seqs("b")).containsExactly(1L);
  }

  @Test
  void aReplayOfWhatIsNotKeptIsRefused() {
    post.define("sink");
    post.append("a", "a");
    database.execute(
        "DELETE FROM lockstep.outbox_event e USING lockstep.outbox_stream s WHERE s.id = e.stream"
            + " AND s.name = '"
            + post.stream
            + "' AND e.seq = 1");

    assertThat(replay("a", 1)).isEqualTo(new EventsDropped(2));
  }

  @Test
  void aSinkIsReplayedAndWhatItNeverHadComesToo() {
    Outbox outbox = post.define("sink");
    Relay relay = post.start();
    post.append("a", "a", "a", "b");
    post.awaitDelivered(4);
    post.stop(relay);
    post.append("new");

    SinkActionResult replayed =
        committed(c -> outbox.replayAll(c, post.stream, "sink", 2, "ann", "lost"));
    assertThat(replayed).isEqualTo(new Changed());
    post.start();
    post.awaitDelivered(7);
    post.append("a", "b");
    post.awaitDelivered(9);

    assertThat(post.sink.seqs("a")).containsExactly(1L, 2L, 3L, 2L, 3L, 4L);
    assertThat(post.sink.seqs("b")).containsExactly(1L, 2L);
    // Its sequence is below the one asked for, but it had not been delivered.
    assertThat(post.sink.seqs("new")).containsExactly(1L);
  }

  @Test
  void aFailureThatMayPassIsTriedAgainAndThenParked() {
    post.define("sink");
    AtomicInteger failures = new AtomicInteger();
    post.sink.behaviour =
        event ->
            event.key().equals("never")
                    || (event.key().equals("later") && failures.getAndIncrement() < 3)
                ? new SinkResult.RetryLater("busy")
                : SinkResult.DELIVERED;
    post.start(Post.relayConfig().withMaxAttempts(5), post.types());
    post.append("later", "never", "later", "good");

    post.awaitDelivered(3);
    Await.until("given up", () -> parked().size() == 1 && parked().get(0).retryAt().isEmpty());

    assertThat(post.sink.seqs("later")).containsExactly(1L, 2L);
    assertThat(parked().get(0))
        .extracting(ParkedKey::key, ParkedKey::attempts)
        .containsExactly("never", 5);
  }

  @Test
  void aSinkThatIsDownSpendsNoAttemptsAndHealsByItself() {
    post.define("sink");
    post.sink.behaviour = event -> new SinkResult.Down("connection refused");
    Relay relay = post.start(Post.relayConfig().withMaxAttempts(1), post.types());
    post.append("a", "b", "a");
    Await.until("tried often", () -> post.sink.calls.get() > 5);
    assertThat(relay.sinks())
        .containsExactly(new SinkHealth(post.stream, "sink", Optional.of("connection refused")));
    assertThat(parked()).isEmpty();

    heal();
    post.awaitDelivered(3);

    assertThat(post.sink.seqs("a")).containsExactly(1L, 2L);
    Await.until("known to work", () -> relay.sinks().get(0).down().isEmpty());
    assertThat(parked()).isEmpty();
  }

  @Test
  void aSinkThatFindsEverythingPoisonCountsAsDown() {
    post.define("sink");
    post.sink.behaviour = event -> new SinkResult.Poison("no such topic");
    Relay relay = post.start(Post.relayConfig().withMaxParkedKeys(2), post.types());
    for (int i = 0; i < 40; i++) {
      post.append("k" + i);
    }
    Await.until("down", () -> relay.sinks().stream().anyMatch(one -> one.down().isPresent()));

    assertThat(parked().size()).isLessThanOrEqualTo(2 * Post.PARTITIONS);
    heal();
    Await.until("the rest flows", () -> post.sink.delivered.size() + parked().size() == 40);
  }
}
