package dev.lockstep.ledger;

import dev.lockstep.sql.StoredEnum;
import java.time.Instant;

/**
 * One change of an account; never altered.
 *
 * @param version 1, 2, 3 … without gaps within the account
 * @param amount the change of the balance: negative if money left, 0 if it was only reserved or
 *     given back
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
  public enum Kind implements StoredEnum {
    /** A transfer that was never pending moved money. */
    MOVED(0),
    /** A pending transfer reserved money. */
    RESERVED(1),
    /** A pending transfer was posted. */
    POSTED(2),
    /** A pending transfer was voided and gave its money back. */
    VOIDED(3),
    /** A pending transfer expired and gave its money back. */
    EXPIRED(4);

    private static final Kind[] BY_CODE = {MOVED, RESERVED, POSTED, VOIDED, EXPIRED};

    private final short code;

    Kind(int code) {
      this.code = (short) code;
    }

    @Override
    public short code() {
      return code;
    }

    static Kind of(int code) {
      return BY_CODE[code];
    }
  }
}
