package dev.lockstep.gateway;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** The state of a refund, with its code in the table. */
enum RefundStatus {
  SUCCEEDED(0),
  PENDING(1),
  REQUIRES_ACTION(2),
  FAILED(3),
  CANCELED(4);

  private final int code;

  RefundStatus(int code) {
    this.code = code;
  }

  static RefundStatus of(int code) {
    return Arrays.stream(values()).filter(one -> one.code == code).findFirst().orElseThrow();
  }

  static Optional<RefundStatus> find(String wireName) {
    return Arrays.stream(values()).filter(one -> one.wireName().equals(wireName)).findFirst();
  }

  short code() {
    return (short) code;
  }

  /** It may still change. */
  boolean isOpen() {
    return this == PENDING || this == REQUIRES_ACTION;
  }

  /** The payee keeps the money. */
  boolean isUndone() {
    return this == FAILED || this == CANCELED;
  }

  String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
