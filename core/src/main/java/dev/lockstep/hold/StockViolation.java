package dev.lockstep.hold;

/**
 * Two records of one fact that differ.
 *
 * @param check which invariant
 * @param scope of the pool
 * @param pool the pool that must stop selling
 * @param detail the finding, in a sentence that an operator can act on
 */
public record StockViolation(StockInvariant check, long scope, long pool, String detail) {

  /** What is compared. */
  public enum StockInvariant {
    /** The pool's counters must equal the lines of live holds. */
    HOLDS,
    /** Live holds must not exceed the total; found only if the promise itself is broken. */
    OVERSOLD,
    /** The pool's counters, its units' owners, and the holds that list them must agree. */
    UNITS,
    /** Audit rows must have no gap, and each must continue from the one before. */
    AUDIT_CHAIN,
    /** The pool's counters must equal the newest audit row. */
    AUDIT_END,
    /** The pool's total must equal its opening total plus later changes. */
    TOTAL,
    /** A buyer's quota must equal the buyer's live holds. */
    QUOTAS
  }
}
