package dev.lockstep.hold;

import dev.lockstep.sql.StoredEnum;

/**
 * The states of a hold. It leaves {@link #HELD} exactly once, to SOLD, RELEASED or EXPIRED. A
 * {@link #SOLD} hold can become {@link #RETURNED}, once. Diagram: docs/concepts.md.
 */
public enum HoldState implements StoredEnum {
  HELD(0),
  SOLD(1),
  RELEASED(2),
  EXPIRED(3),
  RETURNED(4);

  private static final HoldState[] BY_CODE = {HELD, SOLD, RELEASED, EXPIRED, RETURNED};

  private final short code;

  HoldState(int code) {
    this.code = (short) code;
  }

  @Override
  public short code() {
    return code;
  }

  static HoldState of(int code) {
    return BY_CODE[code];
  }

  /** True if it was ever sold, returned or not. */
  public boolean wasSold() {
    return this == SOLD || this == RETURNED;
  }

  /** Held or sold: it counts against the stock and the buyer's limit. */
  public boolean live() {
    return this == HELD || this == SOLD;
  }
}
