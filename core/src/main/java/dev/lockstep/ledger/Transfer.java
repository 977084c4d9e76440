package dev.lockstep.ledger;

import dev.lockstep.sql.StoredEnum;
import java.time.Instant;
import java.util.Optional;

/**
 * A transfer as last written.
 *
 * @param money what was asked for
 * @param posted what has moved: 0 if pending, voided or expired
 * @param expiresAt present if it is or was pending
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

  /** The states of a transfer. It leaves {@code PENDING} once. Diagram: docs/concepts.md. */
  public enum State implements StoredEnum {
    PENDING(0),
    POSTED(1),
    VOIDED(2),
    EXPIRED(3);

    private static final State[] BY_CODE = {PENDING, POSTED, VOIDED, EXPIRED};

    private final short code;

    State(int code) {
      this.code = (short) code;
    }

    @Override
    public short code() {
      return code;
    }

    static State of(int code) {
      return BY_CODE[code];
    }
  }

  /** A new transfer that moves at once. */
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
