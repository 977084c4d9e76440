package dev.lockstep.combine;

import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import dev.lockstep.tx.TxWork;
import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.LockSupport;

/**
 * For Lockstep's own blocks: runs a long check as many short ones, each in its own snapshot and
 * followed by a pause of the same length. So the check costs other work at most half a core and
 * never holds VACUUM back for long.
 *
 * @param options of a snapshot
 * @param page rows per slice
 * @param passed called after each slice, before the pause
 */
public record Slices(Transactor transactor, TxOptions options, int page, Runnable passed) {

  /**
   * Runs one slice in one snapshot, with index lookups whatever the statistics say.
   *
   * @throws CancellationException if the thread was interrupted; nothing is left half done
   */
  public <T> T next(TxWork<T> work) {
    return rested(options.withIndexLookups(), work);
  }

  /** As {@link #next}, with the planner's own choice of plans. */
  public <T> T whole(TxWork<T> work) {
    return rested(options, work);
  }

  private <T> T rested(TxOptions chosen, TxWork<T> work) {
    if (Thread.currentThread().isInterrupted()) {
      throw new CancellationException("The check was interrupted");
    }
    long beganNanos = System.nanoTime();
    T result = transactor.call(chosen, work);
    passed.run();
    LockSupport.parkNanos(this, System.nanoTime() - beganNanos);
    return result;
  }
}
