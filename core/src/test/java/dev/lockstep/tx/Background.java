package dev.lockstep.tx;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The other party of an interleaving, on a thread of its own. */
public final class Background<T> {
  /** The name of its thread. */
  public static final String THREAD = "other-party";

  private final FutureTask<T> task;

  private Background(FutureTask<T> task) {
    this.task = task;
  }

  public static <T> Background<T> start(Callable<T> party) {
    FutureTask<T> task = new FutureTask<>(party);
    Thread thread = new Thread(task, THREAD);
    thread.setDaemon(true);
    thread.start();
    return new Background<>(task);
  }

  public boolean isDone() {
    return task.isDone();
  }

  /** Its result; what it threw is thrown here. */
  public T result() throws Exception {
    try {
      return task.get(60, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      }
      throw e;
    } catch (TimeoutException e) {
      throw new AssertionError("The other party did not end", e);
    }
  }
}
