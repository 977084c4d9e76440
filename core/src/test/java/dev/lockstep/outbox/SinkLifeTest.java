package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Each session is closed once, and each sink once after its sessions, whenever they come. */
class SinkLifeTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);

  private final CountDownLatch called = new CountDownLatch(1);
  private final CountDownLatch go = new CountDownLatch(1);

  @AfterEach
  void endWhatHangs() {
    go.countDown();
  }

  private static RelayConfig config() {
    return Post.relayConfig().withCloseTimeout(Duration.ofSeconds(1));
  }

  private Relay start(Sink sink) {
    return post.start(config(), SinkTypes.standard().with(MemorySink.TYPE, (stream, spec) -> sink));
  }

  /** A call of a sink that the end of its relay does not interrupt. */
  private void hang() {
    called.countDown();
    boolean interrupted = false;
    while (go.getCount() > 0) {
      try {
        go.await();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void awaitCalled() throws InterruptedException {
    assertThat(called.await(60, TimeUnit.SECONDS)).isTrue();
  }

  private void remove(Relay relay) {
    post.outbox().define(post.stream, List.of(), "ann");
    Await.until("removed", () -> relay.sinks().isEmpty());
  }

  private static void awaitNotes(Noting sink, String... notes) {
    Await.until("noted " + List.of(notes), () -> List.copyOf(sink.notes).equals(List.of(notes)));
  }

  @Test
  void aSinkThatIsRemovedWhileItsSessionOpensIsClosedAfterIt() throws Exception {
    Noting sink = new Noting(this::hang);
    post.define("sink");
    Relay relay = start(sink);
    post.append("a");
    awaitCalled();
    remove(relay);
    assertThat(sink.notes).isEmpty();

    go.countDown();

    awaitNotes(sink, "opened", "session closed", "sink closed");
  }

  @Test
  void aSinkThatIsChangedWhileItsSessionOpensIsClosedAfterIt() throws Exception {
    Noting sink = new Noting(this::hang);
    Noting next = new Noting(() -> {});
    CountDownLatch changed = new CountDownLatch(1);
    post.define("sink");
    post.start(
        config(),
        SinkTypes.standard()
            .with(
                MemorySink.TYPE,
                (stream, spec) -> {
                  if (spec.settings().isEmpty()) {
                    return sink;
                  }
                  changed.countDown();
                  return next;
                }));
    post.append("a");
    awaitCalled();
    post.outbox()
        .define(post.stream, List.of(SinkSpec.of("sink", MemorySink.TYPE, "changed")), "ann");
    // Before the relay knows of the change, more sessions of the old sink would open, and hang.
    assertThat(changed.await(60, TimeUnit.SECONDS)).isTrue();
    post.append("b", "c", "d", "e", "f", "g", "h");
    Await.until("the next has taken over", () -> next.notes.contains("opened"));
    assertThat(sink.notes).isEmpty();

    go.countDown();

    awaitNotes(sink, "opened", "session closed", "sink closed");
  }

  @Test
  void aSessionThatOpensAfterItsRelayWasClosedIsClosed() throws Exception {
    Noting sink = new Noting(this::hang);
    post.define("sink");
    Relay relay = start(sink);
    post.append("a");
    awaitCalled();
    post.stop(relay);
    assertThat(sink.notes).isEmpty();

    go.countDown();

    awaitNotes(sink, "opened", "session closed", "sink closed");
    assertThat(sink.interrupted).isFalse();
  }

  @Test
  void aSinkThatIsMadeAfterItsRelayWasClosedIsClosed() throws Exception {
    Noting sink = new Noting(() -> {});
    post.define("sink");
    Relay relay = startMaking(sink);
    awaitCalled();
    post.stop(relay);

    go.countDown();

    awaitNotes(sink, "sink closed");
  }

  @Test
  void aSinkThatIsMadeAfterItWasRemovedIsClosed() throws Exception {
    Noting sink = new Noting(() -> {});
    post.define("sink");
    Relay relay = startMaking(sink);
    awaitCalled();
    remove(relay);

    go.countDown();

    awaitNotes(sink, "sink closed");
  }

  private Relay startMaking(Sink sink) {
    return post.start(
        config(),
        SinkTypes.standard()
            .with(
                MemorySink.TYPE,
                (stream, spec) -> {
                  hang();
                  return sink;
                }));
  }

  @Test
  void aSinkThatCannotBeUsedIsClosed() {
    Noting sink = new Noting(() -> {});
    sink.maxInFlight = -1;
    post.define("sink");
    Relay relay = start(sink);
    post.append("a");
    Await.until("down", () -> relay.sinks().stream().anyMatch(one -> one.down().isPresent()));

    remove(relay);

    awaitNotes(sink, "sink closed");
  }

  @Test
  void aSinkWhoseSessionsAreAllTheSameIsClosedAfterEachOfThem() {
    Noting sink = new Noting(() -> {});
    post.define("sink");
    Relay relay = start(sink);
    post.append("a", "b", "c", "d", "e", "f", "g", "h");
    Await.until("all delivered", () -> sink.delivered.get() >= 8);
    int opened = sink.notes.size();
    assertThat(opened).isGreaterThan(1);

    post.stop(relay);

    assertThat(sink.notes).hasSize(2 * opened + 1).last().isEqualTo("sink closed");
    assertThat(Collections.frequency(sink.notes, "session closed")).isEqualTo(opened);
  }

  @Test
  void makingThatNeverReturnsIsNotBegunWithoutEnd() {
    Queue<Noting> made = new ConcurrentLinkedQueue<>();
    AtomicInteger hanging = new AtomicInteger();
    AtomicInteger seen = new AtomicInteger();
    Relay relay =
        post.start(
            config(),
            SinkTypes.standard()
                .with(
                    "seen",
                    (stream, spec) -> {
                      seen.incrementAndGet();
                      return new MemorySink();
                    })
                .with(
                    MemorySink.TYPE,
                    (stream, spec) -> {
                      hanging.incrementAndGet();
                      hang();
                      Noting sink = new Noting(() -> {});
                      made.add(sink);
                      return sink;
                    }));
    int definitions = 2 * SinkCalls.MAX_HUNG;
    for (int i = 1; i <= definitions; i++) {
      String settings = "v" + i;
      post.outbox()
          .define(
              post.stream,
              List.of(
                  SinkSpec.of("hung", MemorySink.TYPE, settings),
                  SinkSpec.of("seen", "seen", settings)),
              "ann");
      int expected = i;
      Await.until("seen", () -> seen.get() == expected);
    }
    assertThat(hanging.get()).isLessThanOrEqualTo(SinkCalls.MAX_HUNG);
    post.append("a");

    go.countDown();

    Await.until("the last is made", () -> made.stream().anyMatch(s -> s.delivered.get() == 1));
    post.stop(relay);
    Await.until("all closed", () -> made.stream().allMatch(s -> s.notes.contains("sink closed")));
    assertThat(made).hasSize(hanging.get());
  }

  /** Notes what happens to it. Each session is the sink itself. */
  private static final class Noting implements Sink, Session {
    final List<String> notes = new CopyOnWriteArrayList<>();
    final AtomicInteger delivered = new AtomicInteger();
    private final AtomicInteger open = new AtomicInteger();
    private final Runnable opening;
    volatile boolean interrupted;
    volatile int maxInFlight;

    Noting(Runnable opening) {
      this.opening = opening;
    }

    @Override
    public int maxInFlight() {
      if (maxInFlight < 0) {
        throw new IllegalStateException("not today");
      }
      return maxInFlight;
    }

    @Override
    public Session open(SessionLease lease) {
      opening.run();
      open.incrementAndGet();
      notes.add("opened");
      return this;
    }

    @Override
    public CompletionStage<List<SinkResult>> deliver(List<Event> events) {
      delivered.addAndGet(events.size());
      return CompletableFuture.completedStage(
          Collections.nCopies(events.size(), SinkResult.DELIVERED));
    }

    @Override
    public void close() {
      interrupted |= Thread.currentThread().isInterrupted();
      notes.add(open.getAndDecrement() > 0 ? "session closed" : "sink closed");
    }
  }
}
