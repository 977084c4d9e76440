package dev.lockstep.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * A closed loop: callers that each call again as soon as they have an answer, for a bounded time;
 * alone, or in turns with other loads.
 */
final class Load {
  private static final long STACK_BYTES = 256 * 1024;

  /** Long enough to compile the hot code. */
  static final double COLD_WARM_UP_SECONDS = 3;

  /** For a contender measured before: fills caches and connections. */
  static final double WARM_UP_SECONDS = 1.5;

  /** One call, made and answered. */
  @FunctionalInterface
  interface Call {
    /** Makes the call with this number: 1, 2, 3 … over all callers of the load. */
    void run(long number) throws Exception;
  }

  private final String name;
  private final int callers;
  private final boolean giveUp;
  private final Call call;
  private final AtomicLong numbers = new AtomicLong();
  private final LongAdder acknowledged = new LongAdder();
  private final Window window = new Window();

  private Load(String name, int callers, boolean giveUp, Call call) {
    this.name = name;
    this.callers = callers;
    this.giveUp = giveUp;
    this.call = call;
  }

  static Load of(String name, int callers, Call call) {
    return new Load(name, callers, false, call);
  }

  /**
   * For calls that wait for a pooled connection before they do anything: when time is up, waiting
   * ones are told to give up, instead of being served for minutes.
   */
  static Load ofPooled(String name, int callers, Call call) {
    return new Load(name, callers, true, call);
  }

  /**
   * How long to warm up.
   *
   * @param cold whether it is the first one of its kind in this run
   */
  static double warmUp(boolean cold, int seconds) {
    return Math.max(cold ? COLD_WARM_UP_SECONDS : WARM_UP_SECONDS, seconds / (cold ? 3.0 : 5.0));
  }

  /** Runs a single turn. */
  Measured run(double warmUpSeconds, double seconds) throws Exception {
    turn(warmUpSeconds, seconds);
    return measured();
  }

  /** Runs for a while; another turn continues where this one ended. */
  void turn(double warmUpSeconds, double seconds) throws Exception {
    Progress.say("%s, %,d callers", name, callers);
    window.open();
    // All begin together: busy callers would delay the start of the others.
    CountDownLatch ready = new CountDownLatch(callers);
    CountDownLatch begin = new CountDownLatch(1);
    List<Thread> threads = new ArrayList<>(callers);
    for (int i = 0; i < callers; i++) {
      Thread thread = new Thread(null, () -> ask(ready, begin), "caller-" + i, STACK_BYTES);
      thread.setDaemon(true);
      threads.add(thread);
      thread.start();
    }
    ready.await();
    begin.countDown();
    window.pass(warmUpSeconds, seconds);
    if (giveUp) {
      threads.forEach(Thread::interrupt);
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  /**
   * The result of all turns.
   *
   * @throws IllegalStateException if a call failed
   */
  Measured measured() {
    return window.measured(name, callers, acknowledged.sum());
  }

  private void ask(CountDownLatch ready, CountDownLatch begin) {
    ready.countDown();
    try {
      begin.await();
    } catch (InterruptedException e) {
      return;
    }
    while (!window.isOver()) {
      long startedNanos = System.nanoTime();
      try {
        call.run(numbers.incrementAndGet());
      } catch (Throwable e) {
        if (!Thread.currentThread().isInterrupted()) {
          window.fail(e);
        }
        return;
      }
      acknowledged.increment();
      if (window.isMeasuring()) {
        window.record(startedNanos);
      }
    }
  }
}
