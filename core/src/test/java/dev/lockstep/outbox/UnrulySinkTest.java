package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.outbox.RelayHealth.State;
import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.io.IOException;
import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A sink may do anything at all; it does so alone, and goes on when it behaves again. */
@SuppressWarnings("NullAway") // Null where none is allowed is what these sinks are about.
class UnrulySinkTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);

  private final CountDownLatch over = new CountDownLatch(1);
  private final MemorySink late = new MemorySink();
  private volatile boolean unruly = true;

  /** What is wrong with it, for as long as it is unruly. */
  enum Fault {
    MAX_IN_FLIGHT_ERROR,
    OPEN_ERROR,
    OPEN_NULL,
    OPEN_HANGS,
    DELIVER_ERROR,
    DELIVER_STRANGE_EXCEPTION,
    DELIVER_NULL,
    DELIVER_HANGS,
    STAGE_FAILS,
    STAGE_NEVER_ENDS,
    STAGE_OF_NULL,
    TOO_FEW_RESULTS,
    TOO_MANY_RESULTS,
    LIST_THROWS,
    NULL_RESULTS,
    CLOSE_ERROR,
    CLOSE_HANGS
  }

  @AfterEach
  void endWhatHangs() {
    over.countDown();
  }

  @ParameterizedTest
  @EnumSource
  void itIsAloneWithWhatItDoes(Fault fault) {
    post.define("good", "unruly");
    MemorySink behind = new MemorySink();
    Relay relay = start(fault, behind);
    post.append("a", "b", "a");
    post.awaitDelivered(3);
    Await.until("noticed", () -> isNoticed(relay) || !behind.delivered.isEmpty());
    post.append("a", "b");
    post.awaitDelivered(5);
    assertThat(relay.health()).isEqualTo(new RelayHealth(State.RELAYING, Optional.empty()));
    assertThat(relay.sinks())
        .filteredOn(sink -> sink.sink().equals("good"))
        .allMatch(sink -> sink.down().isEmpty());

    unruly = false;
    over.countDown();
    if (fault == Fault.MAX_IN_FLIGHT_ERROR) {
      // It could not be made; it is when its definition changes.
      post.outbox()
          .define(
              post.stream,
              List.of(
                  SinkSpec.of("good", MemorySink.TYPE, ""),
                  SinkSpec.of("unruly", MemorySink.TYPE, "changed")),
              "test");
    }

    Await.until("it has all", () -> behind.seqs("a").contains(3L) && behind.seqs("b").contains(2L));
    assertThat(behind.seqs("a").stream().distinct()).containsExactly(1L, 2L, 3L);
    assertThat(behind.seqs("b").stream().distinct()).containsExactly(1L, 2L);
    assertThat(post.sink.seqs("a")).containsExactly(1L, 2L, 3L);
  }

  private boolean isNoticed(Relay relay) {
    return relay.sinks().stream().anyMatch(sink -> sink.down().isPresent())
        || !post.outbox().parked(post.stream, "unruly", Optional.empty(), 1).isEmpty();
  }

  @Test
  void aTypeThatMakesNoSinkIsDownAlone() {
    post.define("good");
    post.outbox()
        .define(
            post.stream,
            List.of(
                SinkSpec.of("good", MemorySink.TYPE, ""),
                SinkSpec.of("none", "none", ""),
                SinkSpec.of("broken", "broken", ""),
                SinkSpec.of("undeclared", "undeclared", ""),
                SinkSpec.of("hangs", "hangs", "")),
            "test");
    Relay relay =
        post.start(
            Post.relayConfig().withDeliverTimeout(Duration.ofMillis(150)),
            post.types()
                .with("none", (stream, spec) -> null)
                .with(
                    "undeclared",
                    (stream, spec) ->
                        UnrulySinkTest.<Sink, RuntimeException>thrown(
                            new IOException("no such file")))
                .with(
                    "hangs",
                    (stream, spec) -> {
                      await(over);
                      return late;
                    })
                .with(
                    "broken",
                    (stream, spec) -> {
                      throw new NoClassDefFoundError("not/Here");
                    }));
    post.append("a", "a");

    post.awaitDelivered(2);
    Await.until(
        "all of them down",
        () -> relay.sinks().stream().filter(sink -> sink.down().isPresent()).count() == 4);
    assertThat(relay.sinks().toString())
        .contains("not/Here", "no sink", "no such file", "not made within");
    post.append("a");
    post.awaitDelivered(3);
    assertThat(relay.health()).isEqualTo(new RelayHealth(State.RELAYING, Optional.empty()));

    over.countDown();
    Await.until("made at last", () -> late.seqs("a").equals(List.of(1L, 2L, 3L)));
  }

  // As of a type that is written in Kotlin.
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <T, E extends Throwable> T thrown(Throwable undeclared) throws E {
    throw (E) undeclared;
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aReasonThatIsMissingOrCannotBeStoredParksTheKeyAllTheSame() {
    post.define("sink");
    post.sink.behaviour =
        event ->
            switch (event.key()) {
              case "retry" -> new SinkResult.RetryLater(null);
              case "poison" -> new SinkResult.Poison(null);
              case "nul" -> new SinkResult.Poison("a\0b\ud800" + "x".repeat(10_000));
              default -> SinkResult.DELIVERED;
            };
    post.start(Post.relayConfig().withMaxAttempts(2), post.types());
    post.append("retry", "poison", "nul", "good", "retry", "good");

    post.awaitDelivered(2);
    Outbox outbox = post.outbox();
    Await.until(
        "all three parked",
        () ->
            outbox.parked(post.stream, "sink", Optional.empty(), 10).stream()
                    .filter(key -> key.retryAt().isEmpty())
                    .count()
                == 3);
    assertThat(outbox.parked(post.stream, "sink", Optional.empty(), 10))
        .extracting(ParkedKey::error)
        .allSatisfy(error -> assertThat(error).isNotBlank().hasSizeLessThanOrEqualTo(4_000));
    assertThat(new SinkResult.Down(null).reason()).isNotBlank();
  }

  @Test
  void callsThatNeverReturnAreNotBegunWithoutEnd() {
    post.define("good", "unruly");
    MemorySink behind = new MemorySink();
    Relay relay = start(Fault.DELIVER_HANGS, behind);
    for (int i = 0; i < 8; i++) {
      post.append("a" + i);
    }

    Await.until(
        "no more",
        () ->
            relay.sinks().stream()
                .anyMatch(sink -> sink.down().orElse("").contains("have not returned")));
    int calls = behind.calls.get();
    post.append("b");
    post.awaitDelivered(9);

    assertThat(calls).isLessThanOrEqualTo(SinkCalls.MAX_HUNG + Post.PARTITIONS);
    assertThat(behind.calls.get()).isEqualTo(calls);
    over.countDown();
    unruly = false;
    Await.until("it has all", () -> behind.delivered.size() >= 9);
  }

  private Relay start(Fault fault, MemorySink behind) {
    return post.start(
        Post.relayConfig().withDeliverTimeout(Duration.ofMillis(150)),
        SinkTypes.standard()
            .with(
                MemorySink.TYPE,
                (stream, spec) ->
                    spec.name().equals("good") ? post.sink : new Unruly(fault, behind)));
  }

  private final class Unruly implements Sink, Session {
    private final Fault fault;
    private final MemorySink behind;

    Unruly(Fault fault, MemorySink behind) {
      this.fault = fault;
      this.behind = behind;
    }

    private boolean is(Fault one) {
      return unruly && fault == one;
    }

    @Override
    public int maxInFlight() {
      if (is(Fault.MAX_IN_FLIGHT_ERROR)) {
        throw new AssertionError("not today");
      }
      return 0;
    }

    @Override
    public Session open(SessionLease lease) {
      if (is(Fault.OPEN_ERROR)) {
        throw new StackOverflowError();
      }
      if (is(Fault.OPEN_HANGS)) {
        hang();
      }
      return is(Fault.OPEN_NULL) ? null : this;
    }

    @Override
    public CompletionStage<List<SinkResult>> deliver(List<Event> events) {
      if (unruly) {
        behind.calls.incrementAndGet();
      }
      if (is(Fault.DELIVER_ERROR)) {
        throw new AssertionError("not today");
      }
      if (is(Fault.DELIVER_STRANGE_EXCEPTION)) {
        throw new StrangeException();
      }
      if (is(Fault.DELIVER_HANGS)) {
        hang();
        return CompletableFuture.failedStage(new IllegalStateException("too late"));
      }
      if (is(Fault.DELIVER_NULL)) {
        return null;
      }
      if (is(Fault.STAGE_FAILS)) {
        return CompletableFuture.failedStage(new StrangeException());
      }
      if (is(Fault.STAGE_NEVER_ENDS)) {
        return new CompletableFuture<>();
      }
      if (is(Fault.CLOSE_ERROR) || is(Fault.CLOSE_HANGS)) {
        return CompletableFuture.failedStage(new IllegalStateException("close me"));
      }
      return CompletableFuture.completedStage(results(events));
    }

    private List<SinkResult> results(List<Event> events) {
      if (is(Fault.STAGE_OF_NULL)) {
        return null;
      }
      if (is(Fault.TOO_FEW_RESULTS)) {
        return List.of();
      }
      if (is(Fault.TOO_MANY_RESULTS)) {
        return Collections.nCopies(events.size() + 1, SinkResult.DELIVERED);
      }
      if (is(Fault.NULL_RESULTS)) {
        return Arrays.asList(new SinkResult[events.size()]);
      }
      if (is(Fault.LIST_THROWS)) {
        return new ThrowingList();
      }
      behind.delivered.addAll(events);
      return new ArrayList<>(Collections.nCopies(events.size(), SinkResult.DELIVERED));
    }

    @Override
    public void close() {
      if (is(Fault.CLOSE_ERROR)) {
        throw new AssertionError("not even that");
      }
      if (is(Fault.CLOSE_HANGS)) {
        hang();
      }
    }

    private void hang() {
      try {
        over.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static final class ThrowingList extends AbstractList<SinkResult> {
    @Override
    public SinkResult get(int index) {
      throw new AssertionError("not today");
    }

    @Override
    public int size() {
      return 1;
    }
  }

  /** Fails even when it is asked what it is. */
  private static final class StrangeException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    @Override
    public String getMessage() {
      throw new IllegalStateException("not even a message");
    }

    @Override
    public String toString() {
      throw new IllegalStateException("not even a name");
    }
  }
}
