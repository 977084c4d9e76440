package dev.lockstep.audit;

import dev.lockstep.tx.Isolation;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import dev.lockstep.tx.TxWork;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.LockSupport;

/**
 * Runs a long check as many short ones, each in its own snapshot and followed by a pause of the
 * same length. So the check costs sales at most half a core and never holds VACUUM back for long.
 *
 * @param page rows per slice
 * @param passed called after each slice, before the pause
 */
record Slices(Transactor transactor, int page, Runnable passed) {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  static final TxOptions SNAPSHOT =
      TxOptions.DEFAULT
          .withLabel("invariants")
          .withIsolation(Isolation.REPEATABLE_READ)
          .asReadOnly()
          .withStatementTimeout(PATIENCE)
          .withDeadline(PATIENCE);

  /**
   * Runs one slice in one snapshot, with point lookups whatever the statistics say.
   *
   * @throws CancellationException if the thread was interrupted; nothing is left half done
   */
  <T> T next(TxWork<T> work) {
    return rested(SNAPSHOT.withIndexLookups(), work);
  }

  /** As {@link #next}, with the planner's own choice of plans. */
  <T> T whole(TxWork<T> work) {
    return rested(SNAPSHOT, work);
  }

  private <T> T rested(TxOptions options, TxWork<T> work) {
    if (Thread.currentThread().isInterrupted()) {
      throw new CancellationException("The stock check was interrupted");
    }
    long beganNanos = System.nanoTime();
    T result = transactor.call(options, work);
    passed.run();
    LockSupport.parkNanos(this, System.nanoTime() - beganNanos);
    return result;
  }
}
