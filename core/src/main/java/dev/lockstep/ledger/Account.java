package dev.lockstep.ledger;

import java.time.Instant;
import java.util.OptionalLong;

/**
 * An account as it was read.
 *
 * @param floor the lower bound of {@code balance - pending}; if empty, there is none
 * @param balance all money in, less all money out
 * @param pending money reserved by pending transfers that leave this account
 * @param version of its newest entry; 0 if there is none
 * @param changedAt when that entry was written, or the account opened
 */
public record Account(
    BookId book,
    AccountId id,
    String name,
    String currency,
    OptionalLong floor,
    long balance,
    long pending,
    long version,
    Instant changedAt) {

  /** The money that could leave now, at most {@link Long#MAX_VALUE}; empty if there is no floor. */
  public OptionalLong available() {
    if (floor.isEmpty()) {
      return OptionalLong.empty();
    }
    long above = balance - pending;
    long distance = above - floor.getAsLong();
    // The distance to the floor does not fit into a long.
    boolean overflows = above >= floor.getAsLong() && distance < 0;
    return OptionalLong.of(overflows ? Long.MAX_VALUE : distance);
  }

  /** The account after its next entry. */
  Account changed(long newBalance, long newPending, Instant at) {
    return new Account(book, id, name, currency, floor, newBalance, newPending, version + 1, at);
  }
}
