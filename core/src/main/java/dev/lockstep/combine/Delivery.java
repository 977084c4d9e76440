package dev.lockstep.combine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Hands answers to their callers without ever running a caller's code on a writer.
 *
 * <p>A callback may block, even on the answer to a neighbour of the same batch, so every answer
 * that can have one is a task of its own. Answers that a thread waits for run nobody's code: they
 * go together.
 */
final class Delivery {

  /**
   * @param exposed whether the caller was given the stage, and can have attached a callback
   * @param complete gives the answer; a second time has no effect
   */
  record Answer(boolean exposed, Runnable complete) {}

  private final Executor executor;

  Delivery(Executor executor) {
    this.executor = executor;
  }

  void deliver(List<Answer> answers, Runnable whenDone) {
    if (answers.size() == 1 && !answers.get(0).exposed()) {
      // A lone caller is not kept waiting for another thread to wake up.
      answers.get(0).complete().run();
      whenDone.run();
      return;
    }
    List<Runnable> tasks = tasks(answers);
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

  private static List<Runnable> tasks(List<Answer> answers) {
    List<Runnable> awaited = new ArrayList<>();
    List<Runnable> tasks = new ArrayList<>();
    tasks.add(() -> awaited.forEach(Runnable::run));
    for (Answer answer : answers) {
      (answer.exposed() ? tasks : awaited).add(answer.complete());
    }
    return tasks;
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
