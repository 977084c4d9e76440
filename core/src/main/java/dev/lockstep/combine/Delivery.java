package dev.lockstep.combine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Hands answers to their callers without ever running a caller's code on a writer.
 *
 * <p>A callback may block, even on the answer to a neighbour of the same batch, so every answer
 * that can have one is a task of its own. Answers that a thread waits for run nobody's code: the
 * writer gives them at once, so that no callback of a stranger's stands before them.
 */
final class Delivery {
  /**
   * @param exposed whether the caller was given the stage, and can have attached a callback
   * @param complete gives the answer; a second time has no effect
   */
  record Answer(boolean exposed, Runnable complete) {}

  static final Executor CALLBACKS = new CallbackThreads("lockstep-answers");

  private final Executor executor;

  Delivery(Executor executor) {
    this.executor = executor;
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
    } catch (Throwable e) {
      // No thread to be had. An answer on this one is better than none.
      task.run();
    }
  }
}
