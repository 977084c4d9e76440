package dev.lockstep.combine;

import dev.lockstep.tx.TxOptions;

/**
 * Limits how long a request waits for expired items that may cure its refusal. It gives up when no
 * item was ended for one lock timeout, or after one transaction deadline in total. Used by one
 * thread at a time.
 */
final class Patience {
  private final long idleNanos;
  private final long deadlineNanos;
  private long progressNanos;

  Patience(TxOptions options, long nowNanos) {
    this.idleNanos = options.lockTimeout().toNanos();
    this.deadlineNanos = nowNanos + options.deadline().toNanos();
    this.progressNanos = nowNanos;
  }

  /**
   * Records a round.
   *
   * @param swept how many items it ended
   * @return whether to go on
   */
  boolean lasts(int swept, long nowNanos) {
    if (swept > 0) {
      progressNanos = nowNanos;
    }
    return nowNanos - deadlineNanos < 0 && nowNanos - progressNanos < idleNanos;
  }
}
