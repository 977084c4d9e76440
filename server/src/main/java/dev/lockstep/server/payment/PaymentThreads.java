package dev.lockstep.server.payment;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads payments wait on: as many as may be under way, started on demand and gone when idle.
 */
final class PaymentThreads implements AutoCloseable {
  private static final long IDLE_SECONDS = 30;
  private static final long CLOSE_TIMEOUT_SECONDS = 10;

  /** A thread that waits for an answer needs little; five hundred of them should not need much. */
  private static final long STACK_BYTES = 512 * 1024;

  private final ThreadPoolExecutor payments;

  PaymentThreads(PaymentsConfig config) {
    payments =
        new ThreadPoolExecutor(
            config.maxConcurrent(),
            config.maxConcurrent(),
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(config.maxWaiting()),
            named("payment-"));
    payments.allowCoreThreadTimeOut(true);
  }

  Executor payments() {
    return payments;
  }

  /** Those that wait for an answer longer than that find out from the log or the next start. */
  @Override
  public void close() {
    payments.shutdown();
    try {
      if (!payments.awaitTermination(CLOSE_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        payments.shutdownNow();
      }
    } catch (InterruptedException e) {
      payments.shutdownNow();
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
