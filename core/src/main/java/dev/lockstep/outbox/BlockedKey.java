package dev.lockstep.outbox;

/**
 * A key that the cursor steps over, as its lane knows it. Not thread-safe.
 *
 * <p>Parked: until an operator acts. Waiting: retried automatically at a set time.
 */
final class BlockedKey {
  private static final long NEVER = Long.MAX_VALUE;

  final String key;
  long seq;
  String ord;
  int attempts;
  String error;

  // The version of its row; 0: no row yet.
  int version;
  boolean changed;
  private boolean parked;
  private long retryNanos = NEVER;

  BlockedKey(String key, long seq, String ord) {
    this.key = key;
    this.seq = seq;
    this.ord = ord;
    this.error = "";
  }

  void park() {
    parked = true;
    retryNanos = NEVER;
  }

  void retryAt(long nanos) {
    parked = false;
    retryNanos = nanos;
  }

  boolean isParked() {
    return parked;
  }

  /** Whether it waits without a counted attempt: the sink was down, perhaps because of this key. */
  boolean isSuspect() {
    return !parked && attempts == 0;
  }

  boolean isDue(long nowNanos) {
    return !parked && nowNanos - retryNanos >= 0;
  }

  /** Meaningless for a parked key. */
  long retryInNanos(long nowNanos) {
    return Math.max(0, retryNanos - nowNanos);
  }
}
