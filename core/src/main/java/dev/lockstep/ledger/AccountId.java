package dev.lockstep.ledger;

/** Names an account within its book, and its place in the order in which accounts are locked. */
public record AccountId(long value) implements Comparable<AccountId> {
  @Override
  public int compareTo(AccountId other) {
    return Long.compare(value, other.value);
  }
}
