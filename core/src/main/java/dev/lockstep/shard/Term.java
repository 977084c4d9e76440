package dev.lockstep.shard;

import java.time.Duration;
import java.util.UUID;

/** The life of one member: from joining until it leaves or is taken for dead. */
final class Term {
  private final UUID member = UUID.randomUUID();
  private final Duration lease;
  private final Duration idleTimeout;
  private volatile long confirmedUntilNanos = System.nanoTime();
  private volatile boolean over;

  /**
   * @param idleTimeout for how long a transaction with a fence in it may keep the server waiting
   */
  Term(Duration lease, Duration idleTimeout) {
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
