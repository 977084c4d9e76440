package dev.lockstep.ledger;

import java.util.Optional;

/**
 * Two records of one fact that differ.
 *
 * @param account empty when it is about the whole book
 * @param detail what was found, in a sentence an operator can act on
 */
public record LedgerViolation(
    Check check, BookId book, Optional<AccountId> account, String detail) {

  /** What is compared. */
  public enum Check {
    /** The balances of a currency, which add up to nothing. */
    TRIAL_BALANCE,
    /** The account and its newest entry. */
    ACCOUNT_ENTRIES,
    /** Entries one after the other: no gap, each beginning where the one before ended. */
    ENTRY_CHAIN,
    /** The entries of a transfer, which add up to nothing. */
    DOUBLE_ENTRY,
    /** What an account has reserved, and its pending transfers. */
    PENDING,
    /** The account and its floor. */
    FLOOR
  }
}
