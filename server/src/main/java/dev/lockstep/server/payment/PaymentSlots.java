package dev.lockstep.server.payment;

import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Bounds concurrent payments, and runs the blocking ones on threads that start on demand and end
 * when idle. Thread-safe.
 */
final class PaymentSlots implements AutoCloseable {
  private static final long IDLE_SECONDS = 30;
  private static final long CLOSE_TIMEOUT_SECONDS = 10;

  /** A thread that waits for an answer needs little stack, and there may be five hundred. */
  private static final long STACK_BYTES = 512 * 1024;

  private final int maxUnderWay;
  private final int maxWaiting;
  private final ThreadPoolExecutor threads;

  // Guarded by this.
  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
  private int underWay;
  // Started, but not yet reported to the caller.
  private int unanswered;
  private boolean closed;

  PaymentSlots(PaymentsConfig config) {
    maxUnderWay = config.maxConcurrent();
    maxWaiting = config.maxWaiting();
    AtomicInteger number = new AtomicInteger();
    threads =
        new ThreadPoolExecutor(
            0,
            // The slots are the limit; a free slot's thread may still be returning.
            Integer.MAX_VALUE,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            work -> {
              Thread thread =
                  new Thread(null, work, "payment-" + number.incrementAndGet(), STACK_BYTES);
              thread.setDaemon(true);
              return thread;
            });
  }

  /**
   * Starts the work as soon as there is room, on the caller's thread or on one that has just made
   * room. It must not block; blocking work goes to {@link #onThread}.
   *
   * @throws RejectedExecutionException if too many wait, or it is closed
   */
  <T> CompletionStage<T> run(Supplier<CompletionStage<T>> work) {
    CompletableFuture<T> result = new CompletableFuture<>();
    Runnable begin =
        () ->
            begun(work)
                .whenComplete(
                    (value, thrown) -> {
                      leave();
                      if (thrown == null) {
                        result.complete(value);
                      } else {
                        result.completeExceptionally(thrown);
                      }
                      answered();
                    });
    if (enter(begin)) {
      begin.run();
    }
    return result;
  }

  /** Runs blocking work of a payment that has its slot. */
  <T> CompletionStage<T> onThread(Supplier<T> work) {
    return CompletableFuture.supplyAsync(work, threads);
  }

  /** Waits up to ten seconds for running payments. Drops those that have not started. */
  @Override
  public void close() {
    try {
      awaitEmpty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    forgetWaiting();
    threads.shutdownNow();
  }

  private static <T> CompletionStage<T> begun(Supplier<CompletionStage<T>> work) {
    try {
      return work.get();
    } catch (RuntimeException e) {
      return CompletableFuture.failedStage(e);
    }
  }

  /** False if it has to wait. */
  private synchronized boolean enter(Runnable begin) {
    if (closed || (underWay >= maxUnderWay && waiting.size() >= maxWaiting)) {
      throw new RejectedExecutionException("too many payments are in progress");
    }
    if (underWay >= maxUnderWay) {
      waiting.add(begin);
      return false;
    }
    underWay++;
    unanswered++;
    return true;
  }

  private void leave() {
    Runnable next;
    synchronized (this) {
      next = waiting.poll();
      if (next == null) {
        underWay--;
      } else {
        unanswered++;
      }
    }
    if (next != null) {
      next.run();
    }
  }

  private synchronized void answered() {
    unanswered--;
    notifyAll();
  }

  /** Drops what has not started. */
  private synchronized void forgetWaiting() {
    waiting.clear();
  }

  private synchronized void awaitEmpty() throws InterruptedException {
    closed = true;
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSE_TIMEOUT_SECONDS);
    while (unanswered > 0) {
      long leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      if (leftMs <= 0) {
        return;
      }
      wait(leftMs);
    }
  }
}
