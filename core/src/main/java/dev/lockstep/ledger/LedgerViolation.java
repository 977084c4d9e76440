package dev.lockstep.ledger;

import java.util.Optional;

/**
 * Two records of one fact that differ.
 *
 * @param account empty if it concerns the whole book
 * @param detail the finding, in a sentence that an operator can act on
 */
public record LedgerViolation(
    LedgerInvariant check, BookId book, Optional<AccountId> account, String detail) {

  /** What is compared. */
  public enum LedgerInvariant {
    /** The balances of a currency must add up to zero. */
    TRIAL_BALANCE,
    /** The account must equal its newest entry. */
    ACCOUNT_ENTRIES,
    /** Entries must have no gap, and each must continue from the one before. */
    ENTRY_CHAIN,
    /** The entries of a transfer must add up to zero and match it. */
    DOUBLE_ENTRY,
    /** An account's reservations must equal its pending transfers. */
    PENDING,
    /** The account must not be below its floor. */
    FLOOR
  }
}
