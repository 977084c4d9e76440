package dev.lockstep.ledger;

/** Identifies an account within its book. Accounts are locked in the order of their ids. */
public record AccountId(long value) implements Comparable<AccountId> {
  @Override
  public int compareTo(AccountId other) {
    return Long.compare(value, other.value);
  }
}
