package dev.lockstep.ledger;

import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import dev.lockstep.tx.TxWork;
import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.LockSupport;

/**
 * Runs a long check as many short ones, each in its own snapshot and followed by a pause of the
 * same length.
 *
 * @param options of a snapshot
 * @param page entries per slice
 * @param passed called after each slice, before the pause
 */
record LedgerSlices(Transactor transactor, TxOptions options, int page, Runnable passed) {

  /** The same slices with point lookups, whatever the statistics say. */
  LedgerSlices byKey() {
    return new LedgerSlices(transactor, options.withIndexLookups(), page, passed);
  }

  /**
   * Runs one slice.
   *
   * @throws CancellationException if the thread was interrupted; nothing is left half done
   */
  <T> T next(TxWork<T> work) {
    if (Thread.currentThread().isInterrupted()) {
      throw new CancellationException("The ledger check was interrupted");
    }
    long beganNanos = System.nanoTime();
    T result = transactor.call(options, work);
    passed.run();
    LockSupport.parkNanos(this, System.nanoTime() - beganNanos);
    return result;
  }
}
