package dev.lockstep.combine;

import dev.lockstep.tx.TxOptions;

/**
 * How long a request waits for what has expired and may cure its refusal. It gives up when nothing
 * was ended for as long as a lock is waited for, or when the time of a transaction has passed in
 * all. Used by one thread at a time.
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
   * After a round.
   *
   * @param swept what it ended
   * @return whether to go on
   */
  boolean lasts(int swept, long nowNanos) {
    if (swept > 0) {
      progressNanos = nowNanos;
    }
    return nowNanos - deadlineNanos < 0 && nowNanos - progressNanos < idleNanos;
  }
}
