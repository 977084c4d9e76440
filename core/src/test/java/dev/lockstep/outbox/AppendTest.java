package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.lockstep.testkit.Race;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Transactor;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Appending: what is written, in which order, and what is refused. */
class AppendTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);

  @Test
  void aKeyCountsFromOneAndARollbackLeavesNoGap() throws Exception {
    Outbox outbox = post.define();
    assertThat(post.append("a")).containsExactly(new AppendedEvent(post.stream, "a", 1));
    try (Connection connection = database.connection()) {
      connection.setAutoCommit(false);
      assertThat(outbox.append(connection, post.event("a")).seq()).isEqualTo(2);
      connection.rollback();
    }
    assertThat(post.append("a")).containsExactly(new AppendedEvent(post.stream, "a", 2));
  }

  @Test
  void manyEventsOverManyKeysGetTheirPlacesInTheOrderGiven() {
    Outbox outbox = post.define();

    assertThat(post.append("b", "a", "b", "c", "b").stream().map(AppendedEvent::seq))
        .containsExactly(1L, 1L, 2L, 1L, 3L);
    assertThat(post.append("b", "b").stream().map(AppendedEvent::seq)).containsExactly(4L, 5L);
    assertThat(outbox.events(post.stream, "b", 1, 2).stream().map(Event::seq))
        .containsExactly(2L, 3L);
  }

  @Test
  void anEventKeepsWhatItWasGiven() {
    Outbox outbox = post.define();
    byte[] bytes = {0, 1, (byte) 255};
    String trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    NewEvent one =
        NewEvent.of(post.stream, "k\n☃", "made", Content.of("application/octet-stream", bytes))
            .withHeader("tenant", "a: b")
            .withTraceParent(trace)
            .withTraceState("vendor=1");
    post.transactor().run(c -> outbox.append(c, one));
    post.transactor().run(c -> outbox.appendAll(c, List.of(one, one)));

    List<Event> events = outbox.events(post.stream, "k\n☃", 0, 10);

    assertThat(events).extracting(Event::seq).containsExactly(1L, 2L, 3L);
    assertThat(events)
        .allSatisfy(
            event -> {
              assertThat(event.content()).isEqualTo(one.content());
              assertThat(event.type()).isEqualTo("made");
              assertThat(event.headers())
                  .containsExactly(
                      Map.entry("tenant", "a: b"),
                      Map.entry("traceparent", trace),
                      Map.entry("tracestate", "vendor=1"));
            });
  }

  @Test
  void concurrentWritersOverSharedKeysNeitherDeadlockNorLeaveGaps() throws Exception {
    Outbox outbox = post.define();
    Transactor transactor = post.transactor();
    int rounds = 20;

    Race.<Boolean>of(8)
        .run(
            writer -> {
              Random random = new Random(writer);
              for (int i = 0; i < rounds; i++) {
                List<NewEvent> events = new ArrayList<>();
                IntStream.range(0, 6).forEach(k -> events.add(post.event("k" + k)));
                Collections.shuffle(events, random);
                transactor.run(connection -> outbox.appendAll(connection, events));
              }
              return true;
            })
        .valuesOrThrow();

    assertThat(outbox.events(post.stream, "k3", 0, 1000))
        .extracting(Event::seq)
        .containsExactlyElementsOf(LongStream.rangeClosed(1, 8L * rounds).boxed().toList());
  }

  @Test
  void contentIsLimitedToTheByte() {
    Outbox outbox = new Outbox(post.transactor(), Post.config().withMaxContentBytes(10));
    post.define();

    post.transactor()
        .run(c -> outbox.append(c, NewEvent.of(post.stream, "k", "t", Content.json("1234567890"))));
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                post.transactor()
                    .run(
                        c ->
                            outbox.append(
                                c,
                                NewEvent.of(post.stream, "k", "t", Content.json("12345678901")))))
        .withMessageContaining("10 bytes, this one 11");
    assertThat(outbox.events(post.stream, "k", 0, 10)).hasSize(1);
  }

  @Test
  void badEventsAreRefusedBeforeAnythingIsWritten() {
    Content content = Content.json("{}");
    NewEvent good = NewEvent.of("s", "k", "t", content);
    assertThatIllegalArgumentException().isThrownBy(() -> NewEvent.of("", "k", "t", content));
    assertThatIllegalArgumentException().isThrownBy(() -> NewEvent.of("s", " ", "t", content));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> NewEvent.of("s", "k".repeat(401), "t", content));
    assertThatIllegalArgumentException().isThrownBy(() -> NewEvent.of("s", "k", "a\nb", content));
    assertThatIllegalArgumentException().isThrownBy(() -> good.withHeader("lockstep-seq", "1"));
    assertThatIllegalArgumentException().isThrownBy(() -> good.withHeader("a b", "1"));
    assertThatIllegalArgumentException().isThrownBy(() -> good.withHeader("a", "1\r\n2"));
    assertThatIllegalArgumentException().isThrownBy(() -> good.withTraceParent("00-xyz"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Content.of("a\nb", "x".getBytes(StandardCharsets.UTF_8)));
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                post.transactor()
                    .run(c -> post.outbox().append(c, NewEvent.of("nobody", "k", "t", content))))
        .withMessageContaining("No stream 'nobody'");
  }

  @Test
  void theNumberOfPartitionsIsDecidedOnce() {
    post.define();

    assertThatIllegalStateException()
        .isThrownBy(() -> new Outbox(post.transactor(), Post.config().withPartitions(8)))
        .withMessageContaining("has 4 partitions");
  }

  @Test
  void aKeyIsInTheSamePartitionForEver() {
    // Pinned: another answer would send a key's next event another way.
    assertThat(Partitioning.hash("trades\nportfolio-1")).isEqualTo(285104553534801486L);
  }
}
