package dev.lockstep.ledger;

/** Identifies a book, a set of accounts. No transfer leaves its book. */
public record BookId(long value) implements Comparable<BookId> {
  @Override
  public int compareTo(BookId other) {
    return Long.compare(value, other.value);
  }
}
