package dev.lockstep.combine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Hands answers to their callers without ever running a caller's code on a writer.
 *
 * <p>A callback may block, even on the answer to a neighbour of the same batch, so every answer
 * that can have one is a task of its own. Answers that a thread waits for run nobody's code: the
 * writer gives them at once, so that no callback of a stranger's stands before them.
 */
final class Delivery {
  private static final int MIN_THREADS = 4;

  /**
   * @param exposed whether the caller was given the stage, and can have attached a callback
   * @param complete gives the answer; a second time has no effect
   */
  record Answer(boolean exposed, Runnable complete) {}

  /**
   * Of our own, since the common pool may have no thread at all, or have them all in somebody's
   * callback. Its threads are started on demand and gone when idle; one that waits for a stage is
   * made up for.
   */
  static final Executor CALLBACKS = callbackThreads();

  private final Executor executor;

  Delivery(Executor executor) {
    this.executor = executor;
  }

  private static Executor callbackThreads() {
    AtomicInteger number = new AtomicInteger();
    return new ForkJoinPool(
        Math.max(MIN_THREADS, Runtime.getRuntime().availableProcessors()),
        pool -> {
          ForkJoinWorkerThread thread =
              ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
          thread.setName("lockstep-answers-" + number.incrementAndGet());
          return thread;
        },
        null,
        true);
  }

  void deliver(List<Answer> answers, Runnable whenDone) {
    List<Runnable> tasks = new ArrayList<>();
    for (Answer answer : answers) {
      if (answer.exposed()) {
        tasks.add(answer.complete());
      } else {
        answer.complete().run();
      }
    }
    if (tasks.isEmpty()) {
      whenDone.run();
      return;
    }
    AtomicInteger left = new AtomicInteger(tasks.size());
    for (Runnable task : tasks) {
      handOver(
          () -> {
            try {
              task.run();
            } finally {
              if (left.decrementAndGet() == 0) {
                whenDone.run();
              }
            }
          });
    }
  }

  private void handOver(Runnable task) {
    try {
      executor.execute(task);
    } catch (RuntimeException | Error e) {
      // No thread to be had. An answer on this one is better than none.
      task.run();
    }
  }
}
