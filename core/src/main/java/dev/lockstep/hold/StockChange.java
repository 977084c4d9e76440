package dev.lockstep.hold;

import java.time.Instant;

/**
 * One row of the stock audit: what a pool's counters were and became, why, and by whom.
 *
 * @param seq 1, 2, 3 … without gap within the pool
 */
public record StockChange(
    PoolId pool,
    long seq,
    HoldId hold,
    Cause cause,
    String actor,
    PoolCounts before,
    PoolCounts after,
    Instant at) {

  /** Why stock changed. */
  public enum Cause {
    ACQUIRED(0),
    CHANGED(1),
    SOLD(2),
    RELEASED(3),
    EXPIRED(4),
    RETURNED(5);

    private static final Cause[] BY_CODE = {ACQUIRED, CHANGED, SOLD, RELEASED, EXPIRED, RETURNED};

    private final short code;

    Cause(int code) {
      this.code = (short) code;
    }

    /** As stored. */
    short code() {
      return code;
    }

    static Cause of(int code) {
      return BY_CODE[code];
    }
  }
}
