package dev.lockstep.audit;

/**
 * Two records of one fact that differ.
 *
 * @param check which invariant
 * @param scope of the pool
 * @param pool the pool that must not go on selling
 * @param detail what was found, in a sentence an operator can act on
 */
public record Violation(Check check, long scope, long pool, String detail) {

  /** What is compared. */
  public enum Check {
    /** The pool's counters and the lines of live holds. */
    HOLDS,
    /** What live holds have, and what there is: found only if the promise itself is broken. */
    OVERSOLD,
    /** The pool's counters, its units' owners, and the holds that list them. */
    UNITS,
    /** The audit trail: no gap, each row beginning where the one before ended. */
    AUDIT_CHAIN,
    /** The pool's counters and the newest audit row. */
    AUDIT_END,
    /** The pool's total, and what it began with and was changed by since. */
    TOTAL,
    /** What a buyer is said to have used, and the buyer's live holds. */
    QUOTAS
  }
}
