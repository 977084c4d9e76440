package dev.lockstep.ledger;

import dev.lockstep.sql.StoredEnum;

/** The states of a transfer. It leaves {@code PENDING} once. Diagram: docs/concepts.md. */
public enum TransferState implements StoredEnum {
  PENDING(0),
  POSTED(1),
  VOIDED(2),
  EXPIRED(3);

  private static final TransferState[] BY_CODE = {PENDING, POSTED, VOIDED, EXPIRED};

  private final short code;

  TransferState(int code) {
    this.code = (short) code;
  }

  @Override
  public short code() {
    return code;
  }

  static TransferState of(int code) {
    return BY_CODE[code];
  }
}
