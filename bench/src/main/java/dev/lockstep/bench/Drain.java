package dev.lockstep.bench;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;

/**
 * Empties a queue that was filled before, and measures how fast: from the end of a warm-up until
 * time is up or the queue is empty, whichever is first. Its percentiles are of the time in which a
 * hundred jobs are run: how evenly they flow.
 */
final class Drain {
  private static final int STRETCH = 100;
  private static final double WARM_UP_SECONDS = 3;
  private static final long LOOK_MS = 10;
  private static final long START_SECONDS = 60;

  private final Histogram stretches = Window.latencies();
  private final AtomicLong ran = new AtomicLong();
  private final CountDownLatch started = new CountDownLatch(1);
  private volatile boolean measuring;
  private volatile long lastNanos;

  private Drain() {}

  /**
   * Fills and empties a queue.
   *
   * @param workers threads that run jobs, for the report
   * @param jobs how many there are; should be more than can be done in the time
   */
  static Measured run(
      String name, int workers, int seconds, BenchDatabase database, JobQueue queue, int jobs)
      throws Exception {
    Progress.say("%s: writing %,d jobs", name, jobs);
    long before = queue.left();
    queue.fill(jobs);
    database.settle();
    Progress.say("%s", name);
    return new Drain().measure(name, workers, seconds, queue, before + jobs);
  }

  private Measured measure(String name, int workers, int seconds, JobQueue queue, long jobs)
      throws Exception {
    double perSecond;
    AutoCloseable working = queue.work(this::ran);
    try {
      if (!started.await(START_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException(name + " began nothing");
      }
      awaitOrEmpty(Math.max(WARM_UP_SECONDS, seconds / 3.0), jobs);
      long first = ran.get();
      long fromNanos = System.nanoTime();
      measuring = true;
      awaitOrEmpty(seconds, jobs);
      measuring = false;
      perSecond = (ran.get() - first) / ((System.nanoTime() - fromNanos) / 1e9);
    } finally {
      working.close();
    }
    Report.requireBalance(name, ran.get(), jobs - queue.left());
    return new Measured(
        name,
        workers,
        perSecond,
        stretches.getValueAtPercentile(50) / 1e6,
        stretches.getValueAtPercentile(95) / 1e6,
        stretches.getValueAtPercentile(99) / 1e6,
        ran.get(),
        "");
  }

  private void ran() {
    long number = ran.incrementAndGet();
    if (number == 1) {
      started.countDown();
    }
    if (number % STRETCH == 0) {
      long now = System.nanoTime();
      long last = lastNanos;
      lastNanos = now;
      if (measuring && last != 0) {
        Window.record(stretches, Math.max(0, now - last));
      }
    }
  }

  private void awaitOrEmpty(double seconds, long jobs) throws InterruptedException {
    long untilNanos = System.nanoTime() + (long) (seconds * 1e9);
    while (System.nanoTime() < untilNanos && ran.get() < jobs) {
      Thread.sleep(LOOK_MS);
    }
  }
}
