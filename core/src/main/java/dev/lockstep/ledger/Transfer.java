package dev.lockstep.ledger;

import java.time.Instant;
import java.util.Optional;

/**
 * A transfer as last written.
 *
 * @param money what was asked for
 * @param posted what has moved: 0 if pending, voided or expired
 * @param expiresAt present if it is or was pending
 * @param endedAt when it left {@link TransferState#PENDING}
 */
public record Transfer(
    BookId book,
    TransferId id,
    AccountId from,
    AccountId to,
    Money money,
    TransferState state,
    long posted,
    Instant createdAt,
    Optional<Instant> expiresAt,
    Optional<Instant> endedAt) {

  /** A new transfer that moves at once. */
  static Transfer moved(
      BookId book, TransferId id, AccountId from, AccountId to, Money money, Instant at) {
    return new Transfer(
        book,
        id,
        from,
        to,
        money,
        TransferState.POSTED,
        money.amount(),
        at,
        Optional.empty(),
        Optional.of(at));
  }

  Transfer ended(TransferState end, long moved, Instant at) {
    return new Transfer(
        book, id, from, to, money, end, moved, createdAt, expiresAt, Optional.of(at));
  }

  boolean isDue(Instant now) {
    return state == TransferState.PENDING && expiresAt.isPresent() && !expiresAt.get().isAfter(now);
  }
}
