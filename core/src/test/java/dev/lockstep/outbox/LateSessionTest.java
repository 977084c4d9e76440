package dev.lockstep.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.testkit.TestDatabase;
import dev.lockstep.tx.Await;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A sink's session opens when its relay has given up waiting for it. */
class LateSessionTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.migrated();
  @RegisterExtension final Post post = new Post(database);

  private final CountDownLatch over = new CountDownLatch(1);

  @AfterEach
  void endWhatHangs() {
    over.countDown();
  }

  @Test
  void itIsClosedAndAnotherOneDelivers() {
    post.define("late");
    LateSink late = new LateSink();
    post.start(
        Post.relayConfig().withDeliverTimeout(Duration.ofMillis(50)),
        SinkTypes.standard().with(MemorySink.TYPE, (stream, spec) -> late));
    post.append("a");
    Await.until("given up, and another is opened", () -> late.ofItsPartition.get() >= 2);

    over.countDown();

    Await.until("the late one is closed", () -> late.closed.contains(1));
    Await.until("delivered", () -> !late.delivered.isEmpty());
    assertThat(late.delivered).doesNotContain(1);
  }

  /** The first session of a partition opens when the test says so, the others at once. */
  private final class LateSink implements Sink {
    final AtomicInteger ofItsPartition = new AtomicInteger();
    final AtomicInteger itsPartition = new AtomicInteger(-1);
    final Set<Integer> closed = ConcurrentHashMap.newKeySet();
    final Set<Integer> delivered = ConcurrentHashMap.newKeySet();

    @Override
    public int maxInFlight() {
      return 0;
    }

    @Override
    public Session open(SessionLease lease) throws InterruptedException {
      itsPartition.compareAndSet(-1, lease.partition());
      boolean isItsPartition = lease.partition() == itsPartition.get();
      int number = isItsPartition ? ofItsPartition.incrementAndGet() : -1;
      if (number == 1) {
        over.await();
      }
      return new Session() {
        @Override
        public CompletionStage<List<SinkResult>> deliver(List<Event> events) {
          delivered.add(number);
          return CompletableFuture.completedStage(
              Collections.nCopies(events.size(), SinkResult.DELIVERED));
        }

        @Override
        public void close() {
          closed.add(number);
        }
      };
    }

    @Override
    public void close() {}
  }
}
