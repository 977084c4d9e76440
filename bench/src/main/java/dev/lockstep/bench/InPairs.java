package dev.lockstep.bench;

import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;

/** Runs two tasks concurrently to save setup time; measures nothing. */
final class InPairs {
  private InPairs() {}

  /** One of the tasks. */
  @FunctionalInterface
  interface Part {
    void run() throws Exception;
  }

  static void run(Part here, Part beside) throws Exception {
    FutureTask<Void> other = new FutureTask<>(asCallable(beside));
    Thread thread = new Thread(other, "beside");
    thread.setDaemon(true);
    thread.start();
    here.run();
    Object unused = other.get();
  }

  private static Callable<Void> asCallable(Part part) {
    return () -> {
      part.run();
      return null;
    };
  }
}
