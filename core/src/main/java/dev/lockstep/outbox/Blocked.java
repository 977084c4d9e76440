package dev.lockstep.outbox;

/**
 * A key that the cursor passes by, as its lane knows it. Not thread-safe.
 *
 * <p>Parked: until somebody says otherwise. Waiting: tried again by itself at a time.
 */
final class Blocked {
  private static final long NEVER = Long.MAX_VALUE;

  final String key;
  long seq;
  String ord;
  int attempts;
  String error;

  // Of its row; 0: there is none yet.
  int version;
  boolean changed;
  private boolean parked;
  private long retryNanos = NEVER;

  Blocked(String key, long seq, String ord) {
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

  /** It waits although no attempt was counted: the sink was down, perhaps because of it. */
  boolean isSuspect() {
    return !parked && attempts == 0;
  }

  boolean isDue(long nowNanos) {
    return !parked && nowNanos - retryNanos >= 0;
  }

  /** Not meaningful for one that is parked. */
  long retryInNanos(long nowNanos) {
    return Math.max(0, retryNanos - nowNanos);
  }
}
