package dev.lockstep.ledger;

import java.time.Instant;
import java.util.Optional;

/**
 * A transfer as it was last written.
 *
 * @param money what was asked for
 * @param posted what has moved: 0 while pending, and of a transfer that was voided or expired
 * @param expiresAt of one that was or is pending
 * @param endedAt when it left {@link State#PENDING}
 */
public record Transfer(
    BookId book,
    TransferId id,
    AccountId from,
    AccountId to,
    Money money,
    State state,
    long posted,
    Instant createdAt,
    Optional<Instant> expiresAt,
    Optional<Instant> endedAt) {

  /** Where a transfer is in its life. It leaves {@code PENDING} once. */
  public enum State {
    PENDING(0),
    POSTED(1),
    VOIDED(2),
    EXPIRED(3);

    private static final State[] BY_CODE = {PENDING, POSTED, VOIDED, EXPIRED};

    private final short code;

    State(int code) {
      this.code = (short) code;
    }

    /** As stored. */
    short code() {
      return code;
    }

    static State of(int code) {
      return BY_CODE[code];
    }
  }

  /** One that is new, and over at once. */
  static Transfer moved(
      BookId book, TransferId id, AccountId from, AccountId to, Money money, Instant at) {
    return new Transfer(
        book,
        id,
        from,
        to,
        money,
        State.POSTED,
        money.amount(),
        at,
        Optional.empty(),
        Optional.of(at));
  }

  Transfer ended(State end, long moved, Instant at) {
    return new Transfer(
        book, id, from, to, money, end, moved, createdAt, expiresAt, Optional.of(at));
  }

  boolean isDue(Instant now) {
    return state == State.PENDING && expiresAt.isPresent() && !expiresAt.get().isAfter(now);
  }
}
