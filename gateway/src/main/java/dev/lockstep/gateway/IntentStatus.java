package dev.lockstep.gateway;

import dev.lockstep.sql.StoredEnum;
import java.util.Locale;

/** The state of an intent, with its code in the table. */
enum IntentStatus implements StoredEnum {
  REQUIRES_PAYMENT_METHOD(0),
  REQUIRES_CONFIRMATION(1),
  REQUIRES_ACTION(2),
  SUCCEEDED(3),
  CANCELED(4),
  PROCESSING(5);

  private final int code;

  IntentStatus(int code) {
    this.code = code;
  }

  static IntentStatus of(int code) {
    for (IntentStatus status : values()) {
      if (status.code == code) {
        return status;
      }
    }
    throw new IllegalArgumentException("no status " + code);
  }

  @Override
  public short code() {
    return (short) code;
  }

  /** Nothing changes it any more. */
  boolean isFinal() {
    return this == SUCCEEDED || this == CANCELED;
  }

  String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
