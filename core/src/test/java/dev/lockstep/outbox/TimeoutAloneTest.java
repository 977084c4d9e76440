package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A sink is timed out whatever another one does to the timers of the Java platform. */
class TimeoutAloneTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);

  private final CountDownLatch blocked = new CountDownLatch(1);
  private final CountDownLatch go = new CountDownLatch(1);

  @AfterEach
  void endWhatHangs() {
    go.countDown();
  }

  @Test
  void aSinkThatBlocksTheSharedTimerDoesNotSwitchOffTheTimeoutOfAnother() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    CountDownLatch sentAgain = new CountDownLatch(1);
    Sink blocking =
        sink(
            events ->
                new CompletableFuture<List<SinkResult>>()
                    .orTimeout(1, TimeUnit.MILLISECONDS)
                    .handle(
                        (results, failure) -> {
                          blocked.countDown();
                          await(go);
                          return all(events);
                        }));
    Sink silentOnce =
        sink(
            events -> {
              await(blocked);
              if (calls.getAndIncrement() == 0) {
                return new CompletableFuture<>();
              }
              sentAgain.countDown();
              return CompletableFuture.completedStage(all(events));
            });
    post.define("blocking", "silent");
    post.start(
        Post.relayConfig().withDeliverTimeout(Duration.ofMillis(200)),
        SinkTypes.standard()
            .with(
                MemorySink.TYPE,
                (stream, spec) -> spec.name().equals("silent") ? silentOnce : blocking));

    post.append("a");

    assertThat(sentAgain.await(30, TimeUnit.SECONDS)).isTrue();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static List<SinkResult> all(List<Event> events) {
    return Collections.nCopies(events.size(), SinkResult.DELIVERED);
  }

  private static Sink sink(Function<List<Event>, CompletionStage<List<SinkResult>>> deliver) {
    return new Sink() {
      @Override
      public int maxInFlight() {
        return 0;
      }

      @Override
      public Session open(SessionLease lease) {
        return new Session() {
          @Override
          public CompletionStage<List<SinkResult>> deliver(List<Event> events) {
            return deliver.apply(events);
          }

          @Override
          public void close() {}
        };
      }

      @Override
      public void close() {}
    };
  }
}
