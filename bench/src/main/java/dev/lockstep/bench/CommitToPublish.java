package dev.lockstep.bench;

import dev.lockstep.outbox.Content;
import dev.lockstep.outbox.Event;
import dev.lockstep.outbox.NewEvent;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.tx.Transactor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import org.HdrHistogram.Histogram;

/**
 * A thousand events a second, each in a transaction of its own, and for each the time from the
 * moment its writer knew of the commit to the moment the sink had it; nothing if that was before.
 */
final class CommitToPublish {
  static final int PER_SECOND = 1_000;
  static final int WRITERS = 16;
  private static final int WARM_UP_SECONDS = 3;

  private final int perWriter;
  private final int warmUp;
  private final AtomicLongArray committedNanos;
  private final AtomicLongArray publishedNanos;

  CommitToPublish(int seconds) {
    this.perWriter = PER_SECOND * (WARM_UP_SECONDS + seconds) / WRITERS;
    this.warmUp = PER_SECOND * WARM_UP_SECONDS / WRITERS;
    this.committedNanos = new AtomicLongArray(WRITERS * perWriter);
    this.publishedNanos = new AtomicLongArray(WRITERS * perWriter);
  }

  int count() {
    return WRITERS * perWriter;
  }

  void published(Event event) {
    int writer = Integer.parseInt(event.key());
    publishedNanos.set(writer * perWriter + (int) event.seq() - 1, System.nanoTime());
  }

  /** Writes all events at their pace. */
  void write(Transactor transactor, Outbox outbox, String stream) throws Exception {
    ExecutorService writers = Executors.newFixedThreadPool(WRITERS);
    try {
      long startNanos = System.nanoTime();
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        int writer = i;
        running.add(
            writers.submit(
                () -> {
                  write(transactor, outbox, stream, writer, startNanos);
                  return null;
                }));
      }
      for (Future<?> one : running) {
        one.get();
      }
    } finally {
      writers.shutdownNow();
    }
  }

  private void write(
      Transactor transactor, Outbox outbox, String stream, int writer, long startNanos)
      throws InterruptedException {
    double intervalNanos = 1e9 * WRITERS / PER_SECOND;
    for (int n = 0; n < perWriter; n++) {
      long dueNanos = startNanos + (long) (intervalNanos * (n + (double) writer / WRITERS));
      TimeUnit.NANOSECONDS.sleep(Math.max(0, dueNanos - System.nanoTime()));
      NewEvent event =
          NewEvent.of(stream, Integer.toString(writer), Trades.TYPE, Content.json(Trades.json(n)));
      transactor.run(connection -> outbox.append(connection, event));
      committedNanos.set(writer * perWriter + n, System.nanoTime());
    }
  }

  /** When all are published. */
  Measured measured(String name) {
    Histogram latencies = Window.latencies();
    long firstNanos = Long.MAX_VALUE;
    long lastNanos = Long.MIN_VALUE;
    for (int writer = 0; writer < WRITERS; writer++) {
      for (int n = warmUp; n < perWriter; n++) {
        int i = writer * perWriter + n;
        long nanos = publishedNanos.get(i) - committedNanos.get(i);
        Window.record(latencies, Math.max(1_000, nanos));
        firstNanos = Math.min(firstNanos, committedNanos.get(i));
        lastNanos = Math.max(lastNanos, committedNanos.get(i));
      }
    }
    return Measured.of(name, WRITERS, latencies, (lastNanos - firstNanos) / 1e9, count());
  }
}
