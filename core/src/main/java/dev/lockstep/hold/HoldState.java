package dev.lockstep.hold;

/** Where a hold is in its life. It leaves {@link #HELD} exactly once. */
public enum HoldState {
  HELD(0),
  SOLD(1),
  RELEASED(2),
  EXPIRED(3);

  private static final HoldState[] BY_CODE = {HELD, SOLD, RELEASED, EXPIRED};

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

  /** Held or sold: it counts against the stock and the buyer's limit. */
  public boolean live() {
    return this == HELD || this == SOLD;
  }
}
