package dev.lockstep.server.api;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs blocking work: a few named threads and a bounded queue, so that a slow database leads to
 * refusals, not to a backlog. Operators' reports have threads of their own, so buyers do not wait
 * for them.
 */
public final class Workers implements AutoCloseable {
  private static final long WARN_AFTER_SECONDS = 30;

  private final int threads;
  private final Desk shop;
  private final Desk operators;
  private final Optional<Reports> reports;

  /** Runs reports on the ordinary connections, for a node without a shop. */
  public Workers(Vertx vertx) {
    this(vertx, WorkersConfig.DEFAULT, Optional.empty());
  }

  public Workers(Vertx vertx, WorkersConfig config, Reports reports) {
    this(vertx, config, Optional.of(reports));
  }

  private Workers(Vertx vertx, WorkersConfig config, Optional<Reports> reports) {
    this.threads = config.threads();
    this.shop = new Desk(vertx, "lockstep-worker", config.threads(), config.maxWaiting());
    this.operators =
        new Desk(vertx, "lockstep-report", config.reportThreads(), config.maxReportsWaiting());
    this.reports = reports;
  }

  /** The threads that {@link #run} shares with buyers' requests. */
  public int threads() {
    return threads;
  }

  /** Runs it on a worker; the future completes on the caller's event loop. */
  public <T> Future<T> run(Callable<T> work) {
    return shop.run(work);
  }

  /**
   * Runs an operator's read as a report, read-only and with a timeout, and any other read as {@link
   * #run(Callable)} does.
   */
  public <T> Future<T> read(Request request, Callable<T> work) {
    return request.isReport() ? report(work) : shop.run(work);
  }

  /** Runs a read that may be slow as a report, for any caller. */
  public <T> Future<T> report(Callable<T> work) {
    return operators.run(reports.isEmpty() ? work : () -> reports.get().read(work));
  }

  /**
   * Runs a long change on the report threads, so that buyers do not wait for it, but with the
   * ordinary connections and timeouts.
   */
  public <T> Future<T> besideReports(Callable<T> work) {
    return operators.run(work);
  }

  /** Reports that run or wait. */
  public int reportsWaiting() {
    return operators.waiting.get();
  }

  @Override
  public void close() {
    shop.close();
    operators.close();
  }

  /** A pool of threads and its queue. */
  private static final class Desk {
    private final WorkerExecutor executor;
    private final int maxWaiting;
    private final AtomicInteger waiting = new AtomicInteger();

    Desk(Vertx vertx, String name, int threads, int maxWaiting) {
      this.executor =
          vertx.createSharedWorkerExecutor(name, threads, WARN_AFTER_SECONDS, TimeUnit.SECONDS);
      this.maxWaiting = maxWaiting;
    }

    <T> Future<T> run(Callable<T> work) {
      if (waiting.incrementAndGet() > maxWaiting) {
        waiting.decrementAndGet();
        return Future.failedFuture(Problem.overloaded(Duration.ofSeconds(1)).asException());
      }
      try {
        return executor
            .executeBlocking(() -> encoded(work.call()), false)
            .onComplete(ended -> waiting.decrementAndGet());
      } catch (RejectedExecutionException e) {
        // The server is stopping.
        waiting.decrementAndGet();
        return Future.failedFuture(Problem.overloaded(Duration.ofSeconds(1)).asException());
      }
    }

    @SuppressWarnings("unchecked") // an Answer stays an Answer
    private static <T> T encoded(T result) {
      return result instanceof Answer answer ? (T) answer.withBytes() : result;
    }

    void close() {
      var unused = executor.close();
    }
  }
}
