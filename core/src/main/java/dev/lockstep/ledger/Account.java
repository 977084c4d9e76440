package dev.lockstep.ledger;

import java.time.Instant;
import java.util.OptionalLong;

/**
 * An account as it was read.
 *
 * @param floor what {@code balance - pending} never goes below; empty: no floor
 * @param balance what has come in less what has gone out
 * @param pending reserved by pending transfers that leave this account
 * @param version of its newest entry; 0: none
 * @param changedAt when that entry was written
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

  /** What could leave it now; empty: there is no floor. Never more than a long can say. */
  public OptionalLong available() {
    if (floor.isEmpty()) {
      return OptionalLong.empty();
    }
    long above = balance - pending;
    long distance = above - floor.getAsLong();
    // Above the floor by more than a long can say.
    boolean overflows = above >= floor.getAsLong() && distance < 0;
    return OptionalLong.of(overflows ? Long.MAX_VALUE : distance);
  }

  /** As the next entry leaves it. */
  Account changed(long newBalance, long newPending, Instant at) {
    return new Account(book, id, name, currency, floor, newBalance, newPending, version + 1, at);
  }
}
