package dev.lockstep.ledger;

import java.time.Instant;

/**
 * One change of an account; never altered.
 *
 * @param version 1, 2, 3 … without gap within the account
 * @param amount what the balance changed by: negative when money left, 0 when it was only reserved
 *     or given back
 * @param balance the account's balance right after
 * @param pending the account's reservations right after
 */
public record Entry(
    AccountId account,
    long version,
    TransferId transfer,
    Kind kind,
    long amount,
    long balance,
    long pending,
    Instant at) {

  /** Why the account changed. */
  public enum Kind {
    /** By a transfer that was never pending. */
    MOVED(0),
    /** Set aside for a pending transfer. */
    RESERVED(1),
    /** By a pending transfer that was posted. */
    POSTED(2),
    /** Given back by a pending transfer that was voided. */
    VOIDED(3),
    /** Given back by a pending transfer whose time was up. */
    EXPIRED(4);

    private static final Kind[] BY_CODE = {MOVED, RESERVED, POSTED, VOIDED, EXPIRED};

    private final short code;

    Kind(int code) {
      this.code = (short) code;
    }

    /** As stored. */
    short code() {
      return code;
    }

    static Kind of(int code) {
      return BY_CODE[code];
    }
  }
}
