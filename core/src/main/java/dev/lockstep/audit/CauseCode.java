package dev.lockstep.audit;

import dev.lockstep.sql.StoredEnum;

/** Why stock changed, as its table has it: this block reads that table and knows no other block. */
enum CauseCode implements StoredEnum {
  ACQUIRED(0),
  CHANGED(1),
  SOLD(2),
  RELEASED(3),
  EXPIRED(4),
  RETURNED(5),
  OPENED(6),
  RESTOCKED(7);

  private final short code;

  CauseCode(int code) {
    this.code = (short) code;
  }

  @Override
  public short code() {
    return code;
  }
}
