package dev.lockstep.server.duty;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread for a long check, so that it uses no request thread and one connection at most. A
 * queued run serves everyone who asked before it began.
 *
 * <p>Thread-safe. {@link #close} interrupts the current run and waits for it, for a bounded time.
 *
 * @param <T> what the check finds
 */
public final class DutyThread<T> implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(DutyThread.class);

  private final String name;
  private final Callable<T> work;
  private final DutyTimer thread;
  private @Nullable CompletableFuture<T> waiting;

  /** The thread is called {@code lockstep-} and this name. */
  public DutyThread(String name, Callable<T> work) {
    this.name = name;
    this.work = work;
    this.thread = new DutyTimer(name);
  }

  /** Runs it after the current run. */
  public CompletableFuture<T> ask() {
    synchronized (this) {
      if (waiting != null) {
        return waiting;
      }
      CompletableFuture<T> asked = new CompletableFuture<>();
      // Refused once closed; then nobody waits.
      thread.execute(() -> run(asked));
      waiting = asked;
      return asked;
    }
  }

  /**
   * Runs it and waits; empty if it takes longer, and then it continues.
   *
   * @throws RuntimeException the failure; {@link IllegalStateException} around a checked one
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
      if (!thread.isClosed()) {
        log.warn("{} failed: {}", name, e.toString());
      }
      asked.completeExceptionally(e);
    }
  }

  @Override
  public void close() {
    thread.close();
    synchronized (this) {
      if (waiting != null) {
        waiting.cancel(false);
      }
    }
  }
}
