package dev.lockstep.hold;

import dev.lockstep.sql.StoredEnum;
import java.time.Instant;

/**
 * One row of the stock audit: a pool's counters before and after, the cause and the actor.
 *
 * @param seq 1, 2, 3 … without gaps within the pool; 0 is the opening row
 * @param hold all zeros if the total changed and no hold did
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
  public enum Cause implements StoredEnum {
    ACQUIRED(0),
    CHANGED(1),
    SOLD(2),
    RELEASED(3),
    EXPIRED(4),
    RETURNED(5),
    /** The pool was created with its total; the row before the first change. */
    OPENED(6),
    /** The pool's total was changed. */
    RESTOCKED(7);

    private static final Cause[] BY_CODE = {
      ACQUIRED, CHANGED, SOLD, RELEASED, EXPIRED, RETURNED, OPENED, RESTOCKED
    };

    private final short code;

    Cause(int code) {
      this.code = (short) code;
    }

    @Override
    public short code() {
      return code;
    }

    static Cause of(int code) {
      return BY_CODE[code];
    }
  }
}
