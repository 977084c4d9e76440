package dev.lockstep.ledger;

import java.math.BigInteger;

/**
 * What a book's accounts have and owe in one currency. The two sums are always equal.
 *
 * @param accounts how many accounts have this currency
 * @param credit the sum of all balances above zero
 * @param debit the sum of all balances below zero, without its sign
 */
public record TrialBalance(String currency, long accounts, BigInteger credit, BigInteger debit) {

  /** Zero, unless money was created or lost. */
  public BigInteger difference() {
    return credit.subtract(debit);
  }
}
