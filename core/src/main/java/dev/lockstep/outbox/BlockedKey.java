package dev.lockstep.outbox;

/**
 * A key that the cursor steps over. Not thread-safe.
 *
 * <p>Parked: until an operator acts. Waiting: retried at a set time. A key that is neither has no
 * such object, and no row: it flows.
 */
final class BlockedKey {
  private static final long NEVER = Long.MAX_VALUE;

  final String key;
  long seq;
  String ord;
  int attempts;
  String error = "";

  /** The version of its row; 0: no row yet. */
  int version;

  /** Whether it differs from its row. */
  boolean changed;

  private State state = State.PARKED;
  private long retryNanos = NEVER;

  private enum State {
    WAITING,
    PARKED
  }

  BlockedKey(String key, long seq, String ord) {
    this.key = key;
    this.seq = seq;
    this.ord = ord;
  }

  void park() {
    state = State.PARKED;
    retryNanos = NEVER;
  }

  void retryAt(long nanos) {
    state = State.WAITING;
    retryNanos = nanos;
  }

  boolean isParked() {
    return state == State.PARKED;
  }

  boolean isDue(long nowNanos) {
    return state == State.WAITING && nowNanos - retryNanos >= 0;
  }

  /** Only for a waiting key. */
  long retryInNanos(long nowNanos) {
    return Math.max(0, retryNanos - nowNanos);
  }
}
