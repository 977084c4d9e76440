package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.outbox.SinkActionResult.Changed;
import dev.lockstep.outbox.SinkActionResult.NotParked;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One sink does not answer. Whatever operators do meanwhile, the others flow. */
class HungSinkTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);

  private final Map<String, MemorySink> sinks = new ConcurrentHashMap<>();
  private final CountDownLatch hanging = new CountDownLatch(1);
  private final CountDownLatch go = new CountDownLatch(1);

  @BeforeEach
  void oneHangs() throws Exception {
    post.define("fast", "hung");
    sink("hung").behaviour =
        event -> {
          hanging.countDown();
          await(go);
          return SinkResult.DELIVERED;
        };
    start("test");
    // In every partition something is on its way to the sink that hangs.
    post.append("a", "b", "c", "d", "e", "f", "g", "h");
    assertThat(hanging.await(60, TimeUnit.SECONDS)).isTrue();
    awaitFast(8);
  }

  @AfterEach
  void release() {
    go.countDown();
  }

  private MemorySink sink(String name) {
    return sinks.computeIfAbsent(name, n -> new MemorySink());
  }

  private Relay start(String node) {
    return post.start(
        RelayConfig.named(node)
            .withLease(Post.LONG, Duration.ofMillis(20))
            .withPollInterval(Duration.ofMillis(20))
            .withDeliverTimeout(Duration.ofMinutes(5))
            .withCloseTimeout(Duration.ofSeconds(20)),
        SinkTypes.standard().with(MemorySink.TYPE, (stream, spec) -> sink(spec.name())));
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(120, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void awaitFast(int count) {
    Await.until("fast has " + count, () -> sink("fast").delivered.size() >= count);
    assertThat(sink("hung").delivered).isEmpty();
  }

  private static long version() {
    return database.queryLong("SELECT version FROM lockstep.outbox_layout");
  }

  @Test
  void anOrderForTheSinkThatHangsStopsNoOther() {
    Outbox outbox = post.outbox();
    SinkActionResult done =
        post.transactor()
            .call(c -> outbox.replay(c, post.stream, "hung", "a", 1, "ann", "once more"));
    assertThat(done).isEqualTo(new Changed());

    post.append("a", "b", "c", "d", "e", "f", "g", "h");

    awaitFast(16);
  }

  @Test
  void anOrderForAnotherSinkIsCarriedOutAtOnce() {
    Outbox outbox = post.outbox();
    SinkActionResult done =
        post.transactor()
            .call(c -> outbox.replay(c, post.stream, "fast", "a", 1, "ann", "once more"));
    assertThat(done).isEqualTo(new Changed());

    Await.until("sent again", () -> sink("fast").seqs("a").equals(List.of(1L, 1L)));
    post.append("a");
    awaitFast(10);
  }

  @Test
  void retryingAKeyThatIsNotParkedDisturbsNobody() {
    Outbox outbox = post.outbox();
    long before = version();

    assertThat(
            post.transactor()
                .<SinkActionResult>call(
                    c -> outbox.retry(c, post.stream, "hung", "a", "ann", "by mistake")))
        .isEqualTo(new NotParked());

    assertThat(version()).isEqualTo(before);
  }

  @Test
  void aNewSinkAndAChangedOneBeginWhileAnotherHangs() {
    post.outbox()
        .define(
            post.stream,
            List.of(
                SinkSpec.of("fast", MemorySink.TYPE, "changed"),
                SinkSpec.of("hung", MemorySink.TYPE, ""),
                SinkSpec.of("new", MemorySink.TYPE, "")),
            "test");

    post.append("a");

    awaitFast(9);
    Await.until("the new one, too", () -> sink("new").delivered.size() == 9);
    assertThat(sink("fast").delivered).hasSize(9);
  }

  @Test
  void partitionsThatAreToBeHandedOverFlowUntilTheSinkAnswers() {
    Relay second = start("second");
    Await.until(
        "asked for its share",
        () -> database.queryLong("SELECT count(*) FROM lockstep.shard_member") >= 2);

    for (int i = 1; i <= 5; i++) {
      post.append("a", "b", "c", "d", "e", "f", "g", "h");
      awaitFast(8 + 8 * i);
    }
    go.countDown();

    Await.until("a share", () -> second.ownedPartitions() == Post.PARTITIONS / 2);
    Await.until("hung no more", () -> sink("hung").seqs("a").contains(6L));
    assertThat(sink("fast").seqs("a").stream().distinct()).containsExactly(1L, 2L, 3L, 4L, 5L, 6L);
  }
}
