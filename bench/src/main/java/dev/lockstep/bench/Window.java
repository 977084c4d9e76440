package dev.lockstep.bench;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The time of a load: a warm-up, a stretch that is measured, and the end, which a failure brings at
 * once. It can be opened again for another stretch. Thread-safe.
 */
final class Window {
  private static final long MAX_LATENCY_NANOS = TimeUnit.MINUTES.toNanos(2);

  private static final int STRETCH_SECONDS = 10;

  private enum Phase {
    WARM_UP,
    MEASURED,
    OVER
  }

  private final Histogram latencies = latencies();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final CountDownLatch failed = new CountDownLatch(1);
  private volatile Phase phase = Phase.WARM_UP;
  private double measuredSeconds;

  static Histogram latencies() {
    return new ConcurrentHistogram(MAX_LATENCY_NANOS, 3);
  }

  static void record(Histogram latencies, long nanos) {
    latencies.recordValue(Math.min(MAX_LATENCY_NANOS, nanos));
  }

  /** Starts another warm-up. A new window is open already. */
  void open() {
    phase = Phase.WARM_UP;
  }

  /** Lets the time pass, on the thread that measures. */
  void pass(double warmUpSeconds, double seconds) throws InterruptedException {
    pause(warmUpSeconds);
    measure(seconds);
  }

  /**
   * The same, with a warm-up that lasts until the load gets no faster.
   *
   * @param done counts what was done so far
   * @param maxWarmUpSeconds when the warm-up ends at the latest
   */
  void passWhenWarm(LongSupplier done, int maxWarmUpSeconds, int seconds)
      throws InterruptedException {
    WarmUp.run(
        maxWarmUpSeconds / STRETCH_SECONDS,
        () -> {
          long before = done.getAsLong();
          pause(STRETCH_SECONDS);
          return (double) (done.getAsLong() - before);
        });
    measure(seconds);
  }

  private void measure(double seconds) throws InterruptedException {
    phase = Phase.MEASURED;
    long startedNanos = System.nanoTime();
    pause(seconds);
    phase = Phase.OVER;
    measuredSeconds += (System.nanoTime() - startedNanos) / 1e9;
  }

  boolean isMeasuring() {
    return phase == Phase.MEASURED;
  }

  boolean isOver() {
    return phase == Phase.OVER || failure.get() != null;
  }

  void record(long askedNanos) {
    record(latencies, System.nanoTime() - askedNanos);
  }

  /** Reports the first failure. */
  void fail(Throwable thrown) {
    failure.compareAndSet(null, thrown);
    failed.countDown();
  }

  /**
   * What was measured; call it once all callers have ended.
   *
   * @throws IllegalStateException if a call failed
   */
  Measured measured(String name, int callers, long acknowledged) {
    Throwable first = failure.get();
    if (first != null) {
      throw new IllegalStateException(name + " failed", first);
    }
    return Measured.of(name, callers, latencies, measuredSeconds, acknowledged);
  }

  private void pause(double seconds) throws InterruptedException {
    boolean unused = failed.await((long) (seconds * 1e9), TimeUnit.NANOSECONDS);
  }
}
