package dev.lockstep.combine;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.function.BooleanSupplier;

/**
 * Lets a busy key wait a little between two batches, so that more requests share the next one.
 * Guarded by the combiner's lock.
 */
final class Gathering {
  /** With fewer in a batch there is nothing to be saved: the database has time to spare. */
  static final int BUSY = 16;

  /** With so many waiting, more would make a transaction hardly any cheaper for each. */
  static final int ENOUGH = 64;

  private final Condition over;
  private final long nanos;

  /**
   * @param over of the combiner's lock
   */
  Gathering(Condition over, Duration time) {
    this.over = over;
    this.nanos = time.toNanos();
  }

  /**
   * Waits, by the writer that has served so many of a key at once.
   *
   * @param worthwhile looked at again after every {@link #disturb}
   */
  void afterBatchOf(int served, BooleanSupplier worthwhile) {
    if (served < BUSY) {
      return;
    }
    long left = nanos;
    try {
      while (left > 0 && worthwhile.getAsBoolean()) {
        left = over.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Something has changed for those who wait. */
  void disturb() {
    over.signalAll();
  }
}
