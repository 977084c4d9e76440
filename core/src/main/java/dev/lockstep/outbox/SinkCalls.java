package dev.lockstep.outbox;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Calls one sink of a stream on threads that may block, and bounds the calls that do not return.
 * Shared by all definitions that the sink has had: a change of its settings does not end calls that
 * hang. Thread-safe.
 */
final class SinkCalls {
  /** Hung calls, each holding a thread, before no more are begun. */
  static final int MAX_HUNG = 16;

  private final Threads threads;
  private final Duration timeout;
  // Guarded by this.
  private int hung;
  private final List<Runnable> waiting = new ArrayList<>();

  /**
   * A relay's threads. The timer is the relay's own: a sink's callback may block a timer that is
   * shared with it.
   *
   * @param executor runs sinks' calls, each on a thread of its own
   */
  record Threads(Executor executor, ScheduledExecutorService timer) {}

  SinkCalls(Threads threads, Duration timeout) {
    this.threads = threads;
    this.timeout = timeout;
  }

  synchronized boolean isIdle() {
    return hung == 0 && waiting.isEmpty();
  }

  /** Begins a call, unless too many hang. */
  <T> CompletableFuture<T> begin(Callable<T> call) {
    synchronized (this) {
      if (hung >= MAX_HUNG) {
        return CompletableFuture.failedFuture(
            new IllegalStateException(
                "%d calls of the sink have not returned; no more are begun".formatted(MAX_HUNG)));
      }
    }
    CompletableFuture<T> result = new CompletableFuture<>();
    try {
      threads.executor().execute(() -> run(call, result));
    } catch (Throwable e) {
      // No thread available.
      result.completeExceptionally(new SinkFailed(e));
    }
    return result;
  }

  /**
   * Begins a call as soon as fewer than {@link #MAX_HUNG} hang. It counts as hung from its start,
   * because definitions may change faster than calls return.
   */
  <T> CompletableFuture<T> beginWhenFree(Callable<T> call) {
    CompletableFuture<T> result = new CompletableFuture<>();
    whenFree(
        () -> {
          var unused = result.whenComplete((done, failure) -> returned());
          try {
            threads.executor().execute(() -> run(call, result));
          } catch (Throwable e) {
            result.completeExceptionally(new SinkFailed(e));
          }
        });
    return result;
  }

  private void whenFree(Runnable begin) {
    synchronized (this) {
      if (hung >= MAX_HUNG) {
        waiting.add(begin);
        return;
      }
      hung++;
    }
    begin.run();
  }

  private void returned() {
    Runnable next;
    synchronized (this) {
      hung--;
      if (hung >= MAX_HUNG || waiting.isEmpty()) {
        return;
      }
      next = waiting.remove(0);
      hung++;
    }
    next.run();
  }

  /**
   * Runs a close, however many calls hang; the number of open sessions bounds the closes. Once the
   * relay has ended it runs on the calling thread, which has just returned from the sink.
   */
  CompletableFuture<Boolean> always(Runnable call) {
    CompletableFuture<Boolean> result = new CompletableFuture<>();
    Runnable task =
        () ->
            run(
                () -> {
                  call.run();
                  return true;
                },
                result);
    submit(task);
    return result;
  }

  private void submit(Runnable task) {
    try {
      threads.executor().execute(task);
    } catch (RejectedExecutionException e) {
      // The relay's end interrupts the thread; that is not meant for this call.
      boolean interrupted = Thread.interrupted();
      task.run();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    } catch (OutOfMemoryError e) {
      // No thread available, and the caller must not block.
      var unused = threads.timer().schedule(() -> submit(task), 1, TimeUnit.SECONDS);
    }
  }

  private static <T> void run(Callable<T> call, CompletableFuture<T> result) {
    try {
      result.complete(call.call());
    } catch (Throwable e) {
      result.completeExceptionally(new SinkFailed(e));
    }
  }

  /**
   * Fails an answer that does not come in time.
   *
   * @param call the call that occupies a thread; if it has not returned by the timeout, it counts
   *     as hung until it does
   * @return the answer
   */
  <T> CompletableFuture<T> inTime(CompletableFuture<T> answer, CompletableFuture<?> call) {
    if (answer.isDone()) {
      return answer;
    }
    try {
      Future<?> timer =
          threads
              .timer()
              .schedule(() -> timedOut(answer, call), timeout.toNanos(), TimeUnit.NANOSECONDS);
      var unused = answer.whenComplete((result, failure) -> timer.cancel(false));
    } catch (RejectedExecutionException e) {
      answer.completeExceptionally(new IllegalStateException("The relay has ended"));
    }
    return answer;
  }

  /** The timer's thread only hands over: what depends on an answer never holds up the timer. */
  private void timedOut(CompletableFuture<?> answer, CompletableFuture<?> call) {
    Runnable task =
        () -> {
          // Count first: the timeout may start the next call at once.
          if (!answer.isDone() && !call.isDone()) {
            hangs(call);
          }
          answer.completeExceptionally(new TimeoutException("No answer within " + timeout));
        };
    try {
      threads.executor().execute(task);
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      task.run();
    }
  }

  private void hangs(CompletableFuture<?> call) {
    synchronized (this) {
      hung++;
    }
    var unused = call.whenComplete((done, failure) -> returned());
  }

  /**
   * CompletableFuture calls toString() on an exception and hangs if that throws. This wrapper is
   * safe.
   */
  static final class SinkFailed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    SinkFailed(Throwable thrown) {
      super(FailureText.of(thrown), thrown);
    }

    @Override
    @SuppressWarnings("OverrideThrowableToString") // The reason alone is what is kept.
    public String toString() {
      return String.valueOf(getMessage());
    }
  }
}
