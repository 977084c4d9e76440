package dev.lockstep.shard;

import java.time.Duration;
import java.util.UUID;

/** One life of a node in a group: from joining until it leaves or is declared dead. */
final class Membership {
  private final UUID member = UUID.randomUUID();
  private final Duration lease;
  private final Duration idleTimeout;
  private volatile long confirmedUntilNanos = System.nanoTime();
  private volatile boolean over;

  /**
   * @param idleTimeout how long a transaction with a fence may be idle
   */
  Membership(Duration lease, Duration idleTimeout) {
    this.lease = lease;
    this.idleTimeout = idleTimeout;
  }

  UUID member() {
    return member;
  }

  Duration idleTimeout() {
    return idleTimeout;
  }

  /**
   * A heartbeat succeeded.
   *
   * @param askedNanos when it began: the database's lease began no earlier
   */
  void confirm(long askedNanos) {
    confirmedUntilNanos = askedNanos + lease.toNanos();
  }

  /** The node left or was declared dead. */
  void end() {
    over = true;
  }

  boolean isLive() {
    return !over && System.nanoTime() - confirmedUntilNanos < 0;
  }
}
