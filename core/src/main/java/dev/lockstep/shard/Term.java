package dev.lockstep.shard;

import java.time.Duration;
import java.util.UUID;

/** The life of one member: from joining until it leaves or is taken for dead. */
final class Term {
  private final UUID member = UUID.randomUUID();
  private final Duration lease;
  private volatile long confirmedUntilNanos = System.nanoTime();
  private volatile boolean over;

  Term(Duration lease) {
    this.lease = lease;
  }

  UUID member() {
    return member;
  }

  long leaseMs() {
    return lease.toMillis();
  }

  /**
   * A heartbeat got through.
   *
   * @param askedNanos when it was begun: the database's lease began no earlier
   */
  void confirm(long askedNanos) {
    confirmedUntilNanos = askedNanos + lease.toNanos();
  }

  /** Left, or taken for dead. */
  void end() {
    over = true;
  }

  boolean isLive() {
    return !over && System.nanoTime() - confirmedUntilNanos < 0;
  }
}
