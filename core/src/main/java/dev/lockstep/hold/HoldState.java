package dev.lockstep.hold;

/**
 * Where a hold is in its life. It leaves {@link #HELD} exactly once; what was {@link #SOLD} may
 * come back, once, and is {@link #RETURNED} then.
 */
public enum HoldState {
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

  /** As stored. */
  short code() {
    return code;
  }

  static HoldState of(int code) {
    return BY_CODE[code];
  }

  /** Sold, whether or not it came back later. */
  public boolean wasSold() {
    return this == SOLD || this == RETURNED;
  }

  /** Held or sold: it counts against the stock and the buyer's limit. */
  public boolean live() {
    return this == HELD || this == SOLD;
  }
}
