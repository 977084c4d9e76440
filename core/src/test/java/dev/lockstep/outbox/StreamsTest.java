package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Streams and their sinks, defined while relays run. */
class StreamsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);
  private final Map<String, MemorySink> sinks = new ConcurrentHashMap<>();

  private MemorySink sink(String name) {
    return sinks.computeIfAbsent(name, n -> new MemorySink());
  }

  private SinkTypes types() {
    return SinkTypes.standard().with(MemorySink.TYPE, (stream, spec) -> sink(spec.name()));
  }

  private static SinkSpec spec(String name) {
    return SinkSpec.of(name, MemorySink.TYPE, "");
  }

  private void awaitCount(String sink, int count) {
    Await.until(sink + " has " + count, () -> sink(sink).delivered.size() == count);
  }

  @Test
  void aDefinitionIsFoundAgainByEveryNode() {
    SinkSpec sink = SinkSpec.of("log", SinkTypes.LOG, "{}").givingUpAfter(Duration.ofDays(3));
    post.outbox().define(post.stream, List.of(sink), "test");

    assertThat(post.outbox().stream(post.stream))
        .contains(new StreamView(post.stream, List.of(sink)));
    assertThat(post.outbox().streams()).contains(new StreamView(post.stream, List.of(sink)));
    assertThat(post.outbox().stream("nowhere")).isEmpty();
    assertThat(post.outbox().events("nowhere", "k", 0, 1)).isEmpty();
  }

  @Test
  void aNewSinkBeginsWithWhatIsKeptOrWithNowAndTheOthersDoNotNotice() {
    Outbox outbox = post.outbox();
    outbox.define(post.stream, List.of(spec("old")), "test");
    post.start(Post.relayConfig(), types());
    post.append("a", "b");
    awaitCount("old", 2);

    outbox.define(
        post.stream, List.of(spec("old"), spec("all"), spec("new").startingNow()), "test");
    post.append("a");

    awaitCount("all", 3);
    awaitCount("old", 3);
    awaitCount("new", 1);
    assertThat(sink("all").seqs("a")).containsExactly(1L, 2L);
    assertThat(sink("new").seqs("a")).containsExactly(2L);
  }

  @Test
  void aSinkThatIsRemovedGetsNothingMore() {
    Outbox outbox = post.outbox();
    outbox.define(post.stream, List.of(spec("stays"), spec("goes")), "test");
    post.start(Post.relayConfig(), types());
    post.append("a");
    awaitCount("stays", 1);
    awaitCount("goes", 1);

    outbox.define(post.stream, List.of(spec("stays")), "test");
    post.append("a");
    awaitCount("stays", 2);
    post.append("a");
    awaitCount("stays", 3);

    assertThat(sink("goes").delivered.size()).isLessThan(3);
    assertThat(outbox.lags(post.stream)).extracting(SinkLag::sink).containsExactly("stays");
  }

  @Test
  void aTypeThatANodeDoesNotKnowIsDownUntilItIsChanged() {
    Outbox outbox = post.outbox();
    outbox.define(post.stream, List.of(SinkSpec.of("x", "carrier-pigeon", "")), "test");
    Relay relay = post.start(Post.relayConfig(), types());
    post.append("a");
    Await.until("down", () -> relay.sinks().stream().anyMatch(health -> health.down().isPresent()));
    assertThat(relay.sinks().get(0).down().orElseThrow()).contains("carrier-pigeon");

    outbox.define(post.stream, List.of(spec("x")), "test");

    awaitCount("x", 1);
  }

  @Test
  void namesAndNumbersOfSinksAreLimited() {
    Outbox outbox = post.outbox();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> outbox.define(post.stream, List.of(spec("x"), spec("x")), "test"));
    assertThatIllegalArgumentException().isThrownBy(() -> outbox.define(" ", List.of(), "test"));
    assertThatIllegalArgumentException().isThrownBy(() -> spec("a\nb"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> spec("a").givingUpAfter(Duration.ofMillis(1)));
    assertThat(outbox.stream(post.stream)).isEqualTo(Optional.empty());
  }
}
