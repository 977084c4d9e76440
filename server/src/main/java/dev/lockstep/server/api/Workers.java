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
 * Where whatever waits for the database runs: a few named threads and a bounded queue, so that a
 * slow database makes callers be refused rather than pile up. Operators' reports have threads of
 * their own: however slow they are, buyers do not wait for them.
 */
public final class Workers implements AutoCloseable {
  private static final long WARN_AFTER_SECONDS = 30;

  private final Desk shop;
  private final Desk operators;
  private final Optional<Reports> reports;

  /** With reports on the connections of everybody else: for a node without a shop. */
  public Workers(Vertx vertx) {
    this(vertx, WorkersConfig.DEFAULT, Optional.empty());
  }

  public Workers(Vertx vertx, WorkersConfig config, Reports reports) {
    this(vertx, config, Optional.of(reports));
  }

  private Workers(Vertx vertx, WorkersConfig config, Optional<Reports> reports) {
    this.shop = new Desk(vertx, "lockstep-worker", config.threads(), config.maxWaiting());
    this.operators =
        new Desk(vertx, "lockstep-report", config.reportThreads(), config.maxReportsWaiting());
    this.reports = reports;
  }

  /** Runs it on a worker; the future completes on the caller's event loop. */
  public <T> Future<T> run(Callable<T> work) {
    return shop.run(work);
  }

  /**
   * Reads for a request: an operator's as a report, which only reads and is cut off when it takes
   * long; everybody else's as {@link #run(Callable)} does.
   */
  public <T> Future<T> read(Request request, Callable<T> work) {
    if (!request.isReport()) {
      return shop.run(work);
    }
    return operators.run(reports.isEmpty() ? work : () -> reports.get().read(work));
  }

  /**
   * Changes much, or locks what it reads, and takes its time: on the threads of reports, so that
   * buyers do not wait for one, but with the connections and time-outs of everybody else.
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

  /** Threads, and who waits for them. */
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
        return executor.executeBlocking(work, false).onComplete(ended -> waiting.decrementAndGet());
      } catch (RejectedExecutionException e) {
        // Closed: the server is stopping.
        waiting.decrementAndGet();
        return Future.failedFuture(Problem.overloaded(Duration.ofSeconds(1)).asException());
      }
    }

    void close() {
      var unused = executor.close();
    }
  }
}
