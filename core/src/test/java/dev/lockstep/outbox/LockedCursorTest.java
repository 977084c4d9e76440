package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.outbox.SinkActionResult.Changed;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An operator's transaction stays open: what it has locked waits for it, and nothing else does. */
class LockedCursorTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);

  private static final String[] KEYS = {"a", "b", "c", "d", "e", "f", "g", "h"};

  private final Map<String, MemorySink> sinks = new ConcurrentHashMap<>();

  private MemorySink sink(String name) {
    return sinks.computeIfAbsent(name, n -> new MemorySink());
  }

  private Relay start() {
    return post.start(
        Post.relayConfig(),
        SinkTypes.standard().with(MemorySink.TYPE, (stream, spec) -> sink(spec.name())));
  }

  private static Connection begin() throws SQLException {
    Connection somebody = database.connection();
    somebody.setAutoCommit(false);
    return somebody;
  }

  /** By what is written down. */
  private void awaitNoLag(String sink) {
    Await.until(
        "what " + sink + " has got is written down",
        () ->
            post.outbox().lags(post.stream).stream()
                .anyMatch(lag -> lag.sink().equals(sink) && lag.events() == 0));
  }

  @Test
  void aReplayOfOneSinkThatIsNotCommittedHoldsUpNoOther() throws Exception {
    Outbox outbox = post.define("one", "other");
    start();
    post.append(KEYS);
    awaitNoLag("one");
    awaitNoLag("other");

    try (Connection somebody = begin()) {
      assertThat(outbox.replayAll(somebody, post.stream, "one", 1, "ann", "lost"))
          .isEqualTo(new Changed());
      for (int i = 0; i < 3; i++) {
        post.append(KEYS);
        awaitNoLag("other");
      }
      Await.until("one has them, too", () -> sink("one").delivered.size() >= 4 * KEYS.length);
      somebody.commit();
    }

    Await.until("all again", () -> sink("one").seqs("a").size() >= 8);
    awaitNoLag("one");
    assertThat(sink("one").seqs("a")).startsWith(1L, 2L, 3L, 4L).endsWith(1L, 2L, 3L, 4L);
    assertThat(sink("other").seqs("a")).containsExactly(1L, 2L, 3L, 4L);
  }

  @Test
  void anOrderForOneKeyThatIsNotCommittedHoldsUpNoOther() throws Exception {
    Outbox outbox = post.define("one", "other");
    sink("one").behaviour =
        event ->
            event.key().equals("a") && event.seq() == 1
                ? new SinkResult.Poison("too large")
                : SinkResult.DELIVERED;
    start();
    post.append(KEYS);
    Await.until(
        "parked", () -> outbox.parked(post.stream, "one", Optional.empty(), 10).size() == 1);
    awaitNoLag("other");

    try (Connection somebody = begin()) {
      assertThat(outbox.skip(somebody, post.stream, "one", "a", 1, "ann", "known"))
          .isEqualTo(new Changed());
      for (int i = 0; i < 3; i++) {
        post.append(KEYS);
        awaitNoLag("other");
        awaitNoLag("one");
      }
      somebody.commit();
    }

    Await.until("it goes on", () -> sink("one").seqs("a").equals(List.of(2L, 3L, 4L)));
    assertThat(sink("other").seqs("a")).containsExactly(1L, 2L, 3L, 4L);
  }

  @Test
  void whatWasReachedIsWrittenBeforeAPartitionIsHandedOver() throws Exception {
    Outbox outbox = post.define("one", "other");
    Relay first = start();
    post.append(KEYS);
    awaitNoLag("one");
    awaitNoLag("other");

    try (Connection somebody = begin()) {
      assertThat(outbox.replayAll(somebody, post.stream, "one", 1, "ann", "lost"))
          .isEqualTo(new Changed());
      post.append(KEYS);
      Await.until("one has them", () -> sink("one").delivered.size() == 2 * KEYS.length);
      awaitNoLag("other");
      start();
      somebody.rollback();
    }
    Await.until("half are the other's", () -> first.ownedPartitions() == Post.PARTITIONS / 2);
    post.append(KEYS);
    awaitNoLag("one");

    for (String key : KEYS) {
      assertThat(sink("one").seqs(key)).containsExactly(1L, 2L, 3L);
    }
  }
}
