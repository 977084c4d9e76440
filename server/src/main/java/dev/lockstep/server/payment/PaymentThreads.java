package dev.lockstep.server.payment;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads payments wait on: as many as are under way, up to a limit, and gone when idle. The
 * one that became idle last is used first: where few would do, few are used, and their stacks are
 * in the cache.
 */
final class PaymentThreads implements AutoCloseable {
  private static final long IDLE_SECONDS = 30;
  private static final long CLOSE_TIMEOUT_SECONDS = 10;

  /** A thread that waits for an answer needs little; five hundred of them should not need much. */
  private static final long STACK_BYTES = 512 * 1024;

  private final ThreadPoolExecutor threads;
  private final BlockingQueue<Runnable> waiting;

  PaymentThreads(PaymentsConfig config) {
    waiting = new LinkedBlockingQueue<>(config.maxWaiting());
    threads =
        new ThreadPoolExecutor(
            0,
            config.maxConcurrent(),
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            // Not fair, which is last in, first out.
            new SynchronousQueue<>(),
            named("payment-"));
  }

  /** Refuses what would wait behind too many. */
  Executor payments() {
    return this::execute;
  }

  private void execute(Runnable payment) {
    try {
      threads.execute(() -> runWith(payment));
    } catch (RejectedExecutionException allBusy) {
      if (threads.isShutdown() || !waiting.offer(payment)) {
        throw allBusy;
      }
      wakeOne();
    }
  }

  /** All may have ended what they did before there was something to wait for them. */
  private void wakeOne() {
    try {
      threads.execute(this::runWaiting);
    } catch (RejectedExecutionException stillBusy) {
      // Then one of them will look.
    }
  }

  private void runWith(Runnable payment) {
    try {
      payment.run();
    } finally {
      runWaiting();
    }
  }

  private void runWaiting() {
    for (Runnable next = waiting.poll(); next != null; next = waiting.poll()) {
      next.run();
    }
  }

  /** Those that wait for an answer longer than that find out from the log or the next start. */
  @Override
  public void close() {
    threads.shutdown();
    try {
      if (!threads.awaitTermination(CLOSE_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        threads.shutdownNow();
      }
    } catch (InterruptedException e) {
      threads.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }

  private static ThreadFactory named(String prefix) {
    AtomicInteger number = new AtomicInteger();
    return work -> {
      Thread thread = new Thread(null, work, prefix + number.incrementAndGet(), STACK_BYTES);
      thread.setDaemon(true);
      return thread;
    };
  }
}
