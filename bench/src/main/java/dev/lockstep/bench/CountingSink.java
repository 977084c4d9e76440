package dev.lockstep.bench;

import dev.lockstep.outbox.Event;
import dev.lockstep.outbox.Session;
import dev.lockstep.outbox.SessionLease;
import dev.lockstep.outbox.Sink;
import dev.lockstep.outbox.SinkResult;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Counts deliveries, alone or in front of another sink, and checks that every key comes in order
 * without a gap. Thread-safe.
 */
final class CountingSink implements Sink {
  private static final long PATIENCE_SECONDS = 180;

  private final @Nullable Sink inner;
  private volatile long expected;
  private final Consumer<Event> each;
  private final Map<String, Long> lastSeqs = new ConcurrentHashMap<>();
  private final LongAdder delivered = new LongAdder();
  private final LongAdder outOfOrder = new LongAdder();
  private final AtomicLong firstNanos = new AtomicLong();
  private final AtomicLong lastNanos = new AtomicLong();
  private final CountDownLatch all = new CountDownLatch(1);

  /**
   * @param expected how many events make {@link #await} return
   * @param each called with every event
   */
  CountingSink(@Nullable Sink inner, long expected, Consumer<Event> each) {
    this.inner = inner;
    this.expected = expected;
    this.each = each;
  }

  @Override
  public int maxInFlight() {
    return inner == null ? 0 : inner.maxInFlight();
  }

  @Override
  public Session open(SessionLease lease) throws Exception {
    @Nullable Session session = inner == null ? null : inner.open(lease);
    // The clock starts here, so that the time for reading ahead counts.
    firstNanos.compareAndSet(0, System.nanoTime());
    return new Session() {
      @Override
      public CompletionStage<List<SinkResult>> deliver(List<Event> events) {
        CompletionStage<List<SinkResult>> results =
            session == null
                ? CompletableFuture.completedStage(
                    Collections.nCopies(events.size(), SinkResult.DELIVERED))
                : session.deliver(events);
        return results.thenApply(
            list -> {
              note(events, list);
              return list;
            });
      }

      @Override
      public void close() {
        if (session != null) {
          session.close();
        }
      }
    };
  }

  private void note(List<Event> events, List<SinkResult> results) {
    int count = 0;
    for (int i = 0; i < events.size(); i++) {
      if (results.get(i) instanceof SinkResult.Delivered) {
        Event event = events.get(i);
        Long last = lastSeqs.put(event.key(), event.seq());
        if ((last == null ? 0 : last) + 1 != event.seq()) {
          outOfOrder.increment();
        }
        each.accept(event);
        count++;
      }
    }
    lastNanos.accumulateAndGet(System.nanoTime(), Math::max);
    delivered.add(count);
    if (delivered.sum() >= expected) {
      all.countDown();
    }
  }

  @Override
  public void close() {
    if (inner != null) {
      inner.close();
    }
  }

  long delivered() {
    return delivered.sum();
  }

  /** As {@link #await(String)}, when the number becomes known only now. */
  double await(String name, long all) throws InterruptedException {
    expected = all;
    if (delivered.sum() >= all) {
      this.all.countDown();
    }
    return await(name);
  }

  /**
   * Waits until all are delivered.
   *
   * @return events per second
   */
  double await(String name) throws InterruptedException {
    if (!all.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException(
          "%s delivered %,d of %,d".formatted(name, delivered.sum(), expected));
    }
    Report.requireBalance(name, expected, delivered.sum());
    Report.requireBalance(name + ", out of order", 0, outOfOrder.sum());
    return delivered.sum() / ((lastNanos.get() - firstNanos.get()) / 1e9);
  }

  /** Checks that everything delivered was in order. */
  void requireOrder(String name) {
    Report.requireBalance(name + ", out of order", 0, outOfOrder.sum());
  }
}
