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
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import org.HdrHistogram.Histogram;

/**
 * A thousand events per second, each in its own transaction. Measures the time from the writer's
 * knowledge of the commit to the sink's receipt; 1 µs if the receipt came first. Starts to measure
 * once it has stopped getting faster.
 */
final class CommitToPublish {
  static final int PER_SECOND = 1_000;
  static final int WRITERS = 16;
  private static final int STRETCH_SECONDS = 5;
  private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final int maxWarmUpSeconds;
  private final int seconds;
  private final int perWriter;
  private final AtomicIntegerArray committed = new AtomicIntegerArray(WRITERS);
  private final AtomicLongArray committedNanos;
  private final AtomicLongArray publishedNanos;
  private final Histogram latencies = Window.latencies();
  private volatile boolean over;

  /**
   * @param maxWarmUpSeconds when the warm-up ends at the latest
   */
  CommitToPublish(int maxWarmUpSeconds, int seconds) {
    this.maxWarmUpSeconds = maxWarmUpSeconds;
    this.seconds = seconds;
    // One stretch more than needed, since stretches end a little late.
    this.perWriter = PER_SECOND * (maxWarmUpSeconds + 2 * STRETCH_SECONDS + seconds) / WRITERS;
    this.committedNanos = new AtomicLongArray(WRITERS * perWriter);
    this.publishedNanos = new AtomicLongArray(WRITERS * perWriter);
  }

  void published(Event event) {
    int writer = Integer.parseInt(event.key());
    publishedNanos.set(writer * perWriter + (int) event.seq() - 1, System.nanoTime());
  }

  /**
   * Writes events at the given rate until it has measured.
   *
   * @return how many were written
   */
  long write(Transactor transactor, Outbox outbox, String stream) throws Exception {
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
      WarmUp.run(maxWarmUpSeconds / STRETCH_SECONDS, () -> 1 / stretch(STRETCH_SECONDS).getMean());
      latencies.add(stretch(seconds));
      over = true;
      for (Future<?> one : running) {
        one.get();
      }
    } finally {
      over = true;
      writers.shutdownNow();
    }
    long written = 0;
    for (int writer = 0; writer < WRITERS; writer++) {
      written += committed.get(writer);
    }
    return written;
  }

  private void write(
      Transactor transactor, Outbox outbox, String stream, int writer, long startNanos)
      throws InterruptedException {
    double intervalNanos = 1e9 * WRITERS / PER_SECOND;
    for (int n = 0; n < perWriter && !over; n++) {
      long dueNanos = startNanos + (long) (intervalNanos * (n + (double) writer / WRITERS));
      TimeUnit.NANOSECONDS.sleep(Math.max(0, dueNanos - System.nanoTime()));
      NewEvent event =
          NewEvent.of(stream, Integer.toString(writer), Trades.TYPE, Content.json(Trades.json(n)));
      transactor.run(connection -> outbox.appendAtCommit(event));
      committedNanos.set(writer * perWriter + n, System.nanoTime());
      committed.set(writer, n + 1);
    }
  }

  /** Lets a stretch pass; returns the latencies of what was committed in it, once published. */
  private Histogram stretch(int length) throws InterruptedException {
    int[] from = new int[WRITERS];
    for (int writer = 0; writer < WRITERS; writer++) {
      from[writer] = committed.get(writer);
    }
    TimeUnit.SECONDS.sleep(length);
    Histogram stretch = Window.latencies();
    for (int writer = 0; writer < WRITERS; writer++) {
      int to = committed.get(writer);
      for (int n = from[writer]; n < to; n++) {
        int i = writer * perWriter + n;
        Window.record(stretch, Math.max(1_000, awaitPublished(i) - committedNanos.get(i)));
      }
    }
    return stretch;
  }

  private long awaitPublished(int index) throws InterruptedException {
    long askedNanos = System.nanoTime();
    while (publishedNanos.get(index) == 0) {
      if (System.nanoTime() - askedNanos > PATIENCE_NANOS) {
        throw new IllegalStateException("An event was not published within a minute");
      }
      TimeUnit.MILLISECONDS.sleep(1);
    }
    return publishedNanos.get(index);
  }

  /** The result; call it once all are published. */
  Measured measured(String name, long acknowledged) {
    return Measured.of(name, WRITERS, latencies, seconds, acknowledged);
  }
}
