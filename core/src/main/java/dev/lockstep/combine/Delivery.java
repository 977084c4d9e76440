package dev.lockstep.combine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Hands answers to their callers and never runs a caller's code on a writer.
 *
 * <p>A callback may block, even on the answer to a neighbour in the same batch, so every answer
 * that may have a callback is its own task. Answers that a thread waits for run no caller's code.
 * They use separate threads, so that no callback delays them: waking hundreds of threads takes as
 * long as much of the next batch. A writer wakes only a few waiting callers itself.
 */
final class Delivery {
  /**
   * @param exposed whether the caller holds the stage and may have attached a callback
   * @param complete gives the answer; a second call has no effect
   */
  record Answer(boolean exposed, Runnable complete) {}

  private static final int FEW = 4;
  private static final long IDLE_SECONDS = 5;

  private static final Executor WAKING = wakingThreads();

  private final Executor executor;

  Delivery(Executor executor) {
    this.executor = executor;
  }

  private static Executor wakingThreads() {
    int threads = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            CallbackThreads.daemons("lockstep-wakes-", new AtomicInteger()));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  void deliver(List<Answer> answers, Runnable whenDone) {
    List<Runnable> callbacks = new ArrayList<>();
    List<Runnable> awaited = new ArrayList<>();
    for (Answer answer : answers) {
      (answer.exposed() ? callbacks : awaited).add(answer.complete());
    }
    AtomicInteger left = new AtomicInteger(callbacks.size() + 1);
    Runnable oneDone =
        () -> {
          if (left.decrementAndGet() == 0) {
            whenDone.run();
          }
        };
    Runnable wake = () -> run(() -> awaited.forEach(Runnable::run), oneDone);
    if (awaited.size() <= FEW) {
      wake.run();
    } else {
      handOver(WAKING, wake);
    }
    for (Runnable callback : callbacks) {
      handOver(executor, () -> run(callback, oneDone));
    }
  }

  /** Answers every caller of batches that have not answered in time. */
  <Q, A> void settle(List<Batch<Q, A>> batches, Throwable otherwise) {
    batches.forEach(batch -> deliver(batch.settled(otherwise), () -> {}));
    Pending.awaitAnswers(batches.stream().flatMap(batch -> batch.pending().stream()).toList());
  }

  /** Hands a task that may run a caller's code to the callback threads, after a pause. */
  void later(long pauseNanos, Runnable task) {
    AtomicBoolean begun = new AtomicBoolean();
    Runnable once =
        () -> {
          if (begun.compareAndSet(false, true)) {
            handOver(executor, task);
          }
        };
    try {
      CallbackThreads.after(pauseNanos, once);
    } catch (Throwable e) {
      // No thread is available to keep the time; too early is better than never.
      once.run();
    }
  }

  private static void run(Runnable task, Runnable afterwards) {
    try {
      task.run();
    } finally {
      afterwards.run();
    }
  }

  private static void handOver(Executor to, Runnable task) {
    try {
      to.execute(task);
    } catch (Throwable e) {
      // No thread is available; answering on this one is better than not answering.
      task.run();
    }
  }
}
