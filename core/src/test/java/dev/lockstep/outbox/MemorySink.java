package dev.lockstep.outbox;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/** Notes what it gets, in the order it gets it; behaves as the test says. */
final class MemorySink implements Sink {
  static final String TYPE = "memory";

  final Queue<Event> delivered = new ConcurrentLinkedQueue<>();
  final Queue<SessionLease> opened = new ConcurrentLinkedQueue<>();
  final AtomicInteger calls = new AtomicInteger();
  final AtomicInteger largestBatch = new AtomicInteger();
  final AtomicInteger sessionsClosed = new AtomicInteger();
  final int maxInFlight;

  /** What happens before a session is open. */
  volatile Runnable opening = () -> {};

  /** What comes of an event, before it is noted. */
  volatile Function<Event, SinkResult> behaviour = event -> SinkResult.DELIVERED;

  MemorySink() {
    this(0);
  }

  MemorySink(int maxInFlight) {
    this.maxInFlight = maxInFlight;
  }

  @Override
  public int maxInFlight() {
    return maxInFlight;
  }

  @Override
  public Session open(SessionLease lease) {
    opened.add(lease);
    opening.run();
    return new Session() {
      @Override
      public CompletionStage<List<SinkResult>> deliver(List<Event> events) {
        return CompletableFuture.completedStage(note(events));
      }

      @Override
      public void close() {
        sessionsClosed.incrementAndGet();
      }
    };
  }

  @Override
  public void close() {}

  private List<SinkResult> note(List<Event> events) {
    calls.incrementAndGet();
    largestBatch.accumulateAndGet(events.size(), Math::max);
    List<SinkResult> results = new ArrayList<>();
    Map<String, Boolean> failed = new HashMap<>();
    for (Event event : events) {
      SinkResult result =
          failed.containsKey(event.key()) ? SinkResult.UNSENT : behaviour.apply(event);
      if (result instanceof SinkResult.Delivered) {
        delivered.add(event);
      } else {
        failed.put(event.key(), true);
      }
      results.add(result);
    }
    return results;
  }

  List<Long> seqs(String key) {
    return delivered.stream().filter(event -> event.key().equals(key)).map(Event::seq).toList();
  }
}
