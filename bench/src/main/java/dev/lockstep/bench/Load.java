package dev.lockstep.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * A closed loop: so many callers, each asking again as soon as it was answered, for a bounded time.
 */
final class Load {
  private static final long MAX_LATENCY_NANOS = TimeUnit.MINUTES.toNanos(2);
  private static final long STACK_BYTES = 256 * 1024;

  /** Long enough for what is hot to be compiled. */
  private static final double MIN_WARM_UP_SECONDS = 3;

  /** One call, made and answered. */
  @FunctionalInterface
  interface Call {
    /** Makes the call with this number: 1, 2, 3 … over all callers of the load. */
    void run(long number) throws Exception;
  }

  private enum Phase {
    WARM_UP,
    MEASURED,
    OVER
  }

  private final String name;
  private final int callers;
  private final Call call;
  private final AtomicLong numbers = new AtomicLong();
  private final LongAdder acknowledged = new LongAdder();
  private final LongAdder measured = new LongAdder();
  private final Histogram latencies = new ConcurrentHistogram(MAX_LATENCY_NANOS, 3);
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private volatile Phase phase = Phase.WARM_UP;

  private Load(String name, int callers, Call call) {
    this.name = name;
    this.callers = callers;
    this.call = call;
  }

  static Measured run(String name, int callers, int seconds, Call call) throws Exception {
    Progress.say("%s, %,d callers", name, callers);
    return new Load(name, callers, call).run(seconds, false);
  }

  /**
   * The same with calls that wait for a pooled connection, and do nothing before they have it:
   * those that still wait when time is up are told to give up, instead of being served for minutes.
   */
  static Measured runPooled(String name, int callers, int seconds, Call call) throws Exception {
    Progress.say("%s, %,d callers", name, callers);
    return new Load(name, callers, call).run(seconds, true);
  }

  private Measured run(int seconds, boolean giveUp) throws Exception {
    CountDownLatch ready = new CountDownLatch(callers);
    List<Thread> threads = new ArrayList<>(callers);
    for (int i = 0; i < callers; i++) {
      Thread thread = new Thread(null, () -> ask(ready), "caller-" + i, STACK_BYTES);
      thread.setDaemon(true);
      threads.add(thread);
      thread.start();
    }
    ready.await();
    pause(Math.max(MIN_WARM_UP_SECONDS, seconds / 3.0));
    phase = Phase.MEASURED;
    long startedNanos = System.nanoTime();
    pause(seconds);
    phase = Phase.OVER;
    double elapsedSeconds = (System.nanoTime() - startedNanos) / 1e9;
    if (giveUp) {
      threads.forEach(Thread::interrupt);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw new IllegalStateException(name + " failed", failure.get());
    }
    return new Measured(
        name,
        callers,
        measured.sum() / elapsedSeconds,
        latencies.getValueAtPercentile(50) / 1e6,
        latencies.getValueAtPercentile(95) / 1e6,
        latencies.getValueAtPercentile(99) / 1e6,
        acknowledged.sum(),
        "");
  }

  /** The measuring thread waits for time to pass, which is what is being measured. */
  private void pause(double seconds) throws InterruptedException {
    long untilNanos = System.nanoTime() + (long) (seconds * 1e9);
    while (failure.get() == null && System.nanoTime() < untilNanos) {
      TimeUnit.NANOSECONDS.sleep(Math.min(50_000_000, Math.max(1, untilNanos - System.nanoTime())));
    }
  }

  private void ask(CountDownLatch ready) {
    ready.countDown();
    while (phase != Phase.OVER && failure.get() == null) {
      boolean counts = phase == Phase.MEASURED;
      long startedNanos = System.nanoTime();
      try {
        call.run(numbers.incrementAndGet());
      } catch (Throwable e) {
        if (!Thread.currentThread().isInterrupted()) {
          failure.compareAndSet(null, e);
        }
        return;
      }
      acknowledged.increment();
      if (counts && phase == Phase.MEASURED) {
        measured.increment();
        latencies.recordValue(Math.min(MAX_LATENCY_NANOS, System.nanoTime() - startedNanos));
      }
    }
  }
}
