package dev.lockstep.combine;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.function.BooleanSupplier;

/**
 * Lets a busy key wait briefly between two batches, so that more requests share the next one.
 * Guarded by the combiner's lock.
 */
final class Gathering {
  /** Smaller batches gain nothing by waiting: the database has time to spare. */
  static final int BUSY = 16;

  /** With this many waiting, more would hardly lower the cost per request. */
  static final int ENOUGH = 64;

  private final Condition over;
  private final long nanos;

  /**
   * @param over a condition of the combiner's lock
   */
  Gathering(Condition over, Duration time) {
    this.over = over;
    this.nanos = time.toNanos();
  }

  /**
   * Makes the writer wait after a batch of this size.
   *
   * @param worthwhile checked again after every {@link #disturb}
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

  /** Makes waiting writers check again. */
  void disturb() {
    over.signalAll();
  }
}
