package dev.lockstep.ledger;

import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import dev.lockstep.tx.TxWork;
import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.LockSupport;

/**
 * Runs a check that takes long as many short ones: each in a snapshot of its own, followed by a
 * rest of the same length.
 *
 * @param options of a snapshot
 * @param page entries of a slice
 * @param passed called after each, before the rest
 */
record LedgerSlices(Transactor transactor, TxOptions options, int page, Runnable passed) {

  /** With statements planned as look-ups by key, whatever the statistics say. */
  LedgerSlices byKey() {
    return new LedgerSlices(transactor, options.withPointLookups(), page, passed);
  }

  /**
   * One slice.
   *
   * @throws CancellationException if the thread was interrupted; nothing is half done
   */
  <T> T next(TxWork<T> work) {
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
