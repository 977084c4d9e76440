package dev.lockstep.audit;

import dev.lockstep.sql.StoredEnum;

/** How a hold stands, as its table has it: this block reads that table and knows no other block. */
enum HoldCode implements StoredEnum {
  HELD(0),
  SOLD(1),
  RELEASED(2),
  EXPIRED(3),
  RETURNED(4);

  private final short code;

  HoldCode(int code) {
    this.code = (short) code;
  }

  @Override
  public short code() {
    return code;
  }
}
