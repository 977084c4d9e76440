package dev.lockstep.server.api;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Where whatever waits for the database runs: a few named threads and a bounded queue, so that a
 * slow database makes callers be refused rather than pile up.
 */
public final class Workers implements AutoCloseable {
  /** Fewer than the pool has connections: the combiner and the background have theirs. */
  private static final int THREADS = 8;

  private static final int MAX_WAITING = 2_000;
  private static final long WARN_AFTER_SECONDS = 30;

  private final WorkerExecutor executor;
  private final AtomicInteger waiting = new AtomicInteger();

  public Workers(Vertx vertx) {
    executor =
        vertx.createSharedWorkerExecutor(
            "lockstep-worker", THREADS, WARN_AFTER_SECONDS, TimeUnit.SECONDS);
  }

  /** Runs it on a worker; the future completes on the caller's event loop. */
  public <T> Future<T> run(Callable<T> work) {
    if (waiting.incrementAndGet() > MAX_WAITING) {
      waiting.decrementAndGet();
      return Future.failedFuture(Problem.overloaded(Duration.ofSeconds(1)).asException());
    }
    try {
      return executor.executeBlocking(work, false).onComplete(ended -> waiting.decrementAndGet());
    } catch (RejectedExecutionException e) {
      // Closed: the server is stopping.
      waiting.decrementAndGet();
      return Future.failedFuture(Problem.overloaded(Duration.ofSeconds(1)).asException());
    }
  }

  @Override
  public void close() {
    var unused = executor.close();
  }
}
