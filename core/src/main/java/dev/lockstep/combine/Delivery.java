package dev.lockstep.combine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Hands answers to their callers without ever running a caller's code on a writer.
 *
 * <p>A callback may block, even on the answer to a neighbour of the same batch, so every answer
 * that can have one is a task of its own. Answers that a thread waits for run nobody's code. They
 * have threads of their own, where no callback stands before them: to wake hundreds of threads
 * takes as long as a good part of the next batch. A writer wakes only a few itself.
 */
final class Delivery {
  /**
   * @param exposed whether the caller was given the stage, and can have attached a callback
   * @param complete gives the answer; a second time has no effect
   */
  record Answer(boolean exposed, Runnable complete) {}

  private static final int FEW = 4;
  private static final long IDLE_SECONDS = 5;

  private static final Executor WAKING = wakingThreads();

  static final Executor CALLBACKS = new CallbackThreads("lockstep-answers");

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
      // No thread to be had. An answer on this one is better than none.
      task.run();
    }
  }
}
