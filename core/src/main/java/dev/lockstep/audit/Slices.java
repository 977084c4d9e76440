package dev.lockstep.audit;

import dev.lockstep.tx.Isolation;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import dev.lockstep.tx.TxWork;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.LockSupport;

/**
 * Runs a check that takes long as many short ones: each in a snapshot of its own, followed by a
 * rest of the same length, so that those who sell meanwhile have half a core less at most and
 * VACUUM is never kept back for long.
 *
 * @param page rows of a slice
 * @param passed called after each, before the rest
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
   * One slice, in one snapshot: few rows, found by their keys whatever the statistics say.
   *
   * @throws CancellationException if the thread was interrupted; nothing is half done
   */
  <T> T next(TxWork<T> work) {
    return rested(SNAPSHOT.withPointLookups(), work);
  }

  /** The same for what is planned as the database likes. */
  <T> T whole(TxWork<T> work) {
    return rested(SNAPSHOT, work);
  }

  private <T> T rested(TxOptions options, TxWork<T> work) {
    if (Thread.currentThread().isInterrupted()) {
      throw new CancellationException("The check was stopped");
    }
    long beganNanos = System.nanoTime();
    T result = transactor.call(options, work);
    passed.run();
    LockSupport.parkNanos(this, System.nanoTime() - beganNanos);
    return result;
  }
}
