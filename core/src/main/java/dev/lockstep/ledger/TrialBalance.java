package dev.lockstep.ledger;

import java.math.BigInteger;

/**
 * A currency of a book: what its accounts have, and what they owe. The two are always the same.
 *
 * @param accounts how many keep this currency
 * @param credit the sum of all balances above zero
 * @param debit the sum of all balances below zero, without its sign
 */
public record TrialBalance(String currency, long accounts, BigInteger credit, BigInteger debit) {

  /** Zero, or money was made or lost. */
  public BigInteger difference() {
    return credit.subtract(debit);
  }
}
