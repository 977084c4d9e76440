package dev.lockstep.server;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

/** What a test awaits before it goes on: that something has come true, never an age. */
public final class Await {
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  private Await() {}

  /** Returns when the condition holds, which the server makes true. */
  public static void until(String what, Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.call()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("Never came true: " + what);
      }
      // Between two questions to the server; no test relies on its length.
      LockSupport.parkNanos(5_000_000);
    }
  }
}
