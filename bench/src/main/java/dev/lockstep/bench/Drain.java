package dev.lockstep.bench;

import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;

/**
 * Empties a filled queue and measures how fast: from the end of the warm-up until time is up or the
 * queue is empty. Its percentiles are of the time per hundred jobs, which shows how evenly they
 * run.
 */
final class Drain {
  private static final int STRETCH = 100;
  private static final long START_SECONDS = 60;
  private static final int MAX_JOBS = 20_000_000;

  private final Histogram stretches = Window.latencies();
  private final AtomicLong ran = new AtomicLong();
  private final CountDownLatch started = new CountDownLatch(1);
  private final CountDownLatch empty = new CountDownLatch(1);
  private final long jobs;
  private volatile boolean measuring;
  private volatile long lastNanos;

  private Drain(long jobs) {
    this.jobs = jobs;
  }

  /**
   * How long to drain.
   *
   * @param warmUpSeconds before anything counts
   */
  record Time(double warmUpSeconds, int seconds) {
    /** How many jobs it takes at this rate. */
    int jobsAt(int perSecond) {
      return (int) (perSecond * (warmUpSeconds + seconds));
    }
  }

  /**
   * Fills and empties a queue.
   *
   * @param workers threads that run jobs, for the report
   * @param perSecond how many jobs to write for each second; should be more than can be done. The
   *     number doubles until the jobs outlast the warm-up
   */
  static Measured run(
      String name, int workers, Time time, BenchDatabase database, JobQueue queue, int perSecond)
      throws Exception {
    for (int jobs = time.jobsAt(perSecond); jobs <= MAX_JOBS; jobs *= 2) {
      Progress.say("%s: writing %,d jobs", name, jobs);
      long before = queue.left();
      queue.fill(jobs);
      database.settle();
      Progress.say("%s", name);
      Optional<Measured> measured = new Drain(before + jobs).measure(name, workers, time, queue);
      if (measured.isPresent()) {
        return measured.get();
      }
    }
    throw new IllegalStateException(
        name + " ran " + MAX_JOBS + " jobs before its warm-up was over");
  }

  /** Empty if the jobs did not outlast the warm-up. */
  private Optional<Measured> measure(String name, int workers, Time time, JobQueue queue)
      throws Exception {
    double perSecond;
    AutoCloseable working = queue.work(this::ran);
    try {
      if (!started.await(START_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException(name + " began nothing");
      }
      if (isEmptyWithin(time.warmUpSeconds())) {
        return Optional.empty();
      }
      long first = ran.get();
      long fromNanos = System.nanoTime();
      measuring = true;
      boolean unused = isEmptyWithin(time.seconds());
      measuring = false;
      perSecond = (ran.get() - first) / ((System.nanoTime() - fromNanos) / 1e9);
    } finally {
      working.close();
    }
    Report.requireBalance(name, ran.get(), jobs - queue.left());
    return Optional.of(
        new Measured(
            name,
            workers,
            perSecond,
            stretches.getValueAtPercentile(50) / 1e6,
            stretches.getValueAtPercentile(95) / 1e6,
            stretches.getValueAtPercentile(99) / 1e6,
            ran.get(),
            ""));
  }

  private void ran() {
    long number = ran.incrementAndGet();
    if (number == 1) {
      started.countDown();
    }
    if (number == jobs) {
      empty.countDown();
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

  private boolean isEmptyWithin(double seconds) throws InterruptedException {
    return empty.await((long) (seconds * 1e9), TimeUnit.NANOSECONDS);
  }
}
