package dev.lockstep.server.duty;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread for a check that may take long, so that it takes none that answers requests, and one
 * connection at a time. Work that waits is run once for everybody who asked meanwhile: what they
 * get began after they asked.
 *
 * <p>Thread-safe. {@link #close} interrupts what runs and waits for it, a bounded time.
 *
 * @param <T> what the check finds
 */
public final class DutyThread<T> implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(DutyThread.class);
  private static final long CLOSE_SECONDS = 10;

  private final String name;
  private final Callable<T> work;
  private final ExecutorService thread;
  private @Nullable CompletableFuture<T> waiting;

  /** The thread is named so, after {@code lockstep-}. */
  public DutyThread(String name, Callable<T> work) {
    this.name = name;
    this.work = work;
    this.thread =
        Executors.newSingleThreadExecutor(
            task -> {
              Thread made = new Thread(task, "lockstep-" + name);
              made.setDaemon(true);
              return made;
            });
  }

  /** Runs it, after what runs now. */
  public CompletableFuture<T> ask() {
    synchronized (this) {
      if (waiting != null) {
        return waiting;
      }
      CompletableFuture<T> asked = new CompletableFuture<>();
      waiting = asked;
      thread.execute(() -> run(asked));
      return asked;
    }
  }

  /**
   * Runs it and waits; empty if that takes longer, while it goes on.
   *
   * @throws IllegalStateException with what it threw as the cause
   */
  public Optional<T> ask(Duration atMost) throws InterruptedException {
    try {
      return Optional.of(ask().get(atMost.toMillis(), TimeUnit.MILLISECONDS));
    } catch (TimeoutException e) {
      return Optional.empty();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException known
          ? known
          : new IllegalStateException(name + " failed", e.getCause());
    }
  }

  private void run(CompletableFuture<T> asked) {
    synchronized (this) {
      waiting = null;
    }
    try {
      asked.complete(work.call());
    } catch (Throwable e) {
      if (!thread.isShutdown()) {
        log.warn("{} failed: {}", name, e.toString());
      }
      asked.completeExceptionally(e);
    }
  }

  @Override
  public void close() {
    thread.shutdownNow();
    try {
      if (!thread.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        log.warn("{} has not ended within {} s", name, CLOSE_SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    synchronized (this) {
      if (waiting != null) {
        waiting.cancel(false);
      }
    }
  }
}
