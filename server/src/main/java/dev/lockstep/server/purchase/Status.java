package dev.lockstep.server.purchase;

import dev.lockstep.sql.StoredEnum;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;

/** The states of a purchase, with their codes in the table. Diagram: docs/concepts.md. */
public enum Status implements StoredEnum {
  PENDING(0, "pending", "pending"),
  REQUIRES_ACTION(1, "requiresAction", "requires_action"),
  COMPLETED(2, "completed", "succeeded"),
  FAILED(3, "failed", "failed"),
  EXPIRED(4, "expired", "canceled"),
  REFUNDING(5, "refunding", "refunding"),
  REFUNDED(6, "refunded", "refunded");

  /** Not paid yet, or not known to be. */
  static final Set<Status> OPEN = Set.of(PENDING, REQUIRES_ACTION);

  /** What a payment that arrives after all still turns into a sale, or into a refund. */
  static final Set<Status> NOT_SOLD = Set.of(PENDING, REQUIRES_ACTION, FAILED, EXPIRED);

  private final int code;
  private final String label;
  private final String payment;

  Status(int code, String label, String payment) {
    this.code = code;
    this.label = label;
    this.payment = payment;
  }

  /** Nothing more happens by itself. */
  boolean isEnd() {
    return this != PENDING && this != REQUIRES_ACTION && this != REFUNDING;
  }

  String label() {
    return label;
  }

  /** What this says of its payment. */
  String payment() {
    return payment;
  }

  @Override
  public short code() {
    return (short) code;
  }

  /** A bit a status, for a guard in SQL. */
  static int mask(Set<Status> some) {
    return some.stream().mapToInt(status -> 1 << status.code).sum();
  }

  public static Status of(int code) {
    return Arrays.stream(values()).filter(status -> status.code == code).findFirst().orElseThrow();
  }

  static Optional<Status> find(String label) {
    return Arrays.stream(values()).filter(status -> status.label.equals(label)).findFirst();
  }

  static String[] labels() {
    return Arrays.stream(values()).map(Status::label).toArray(String[]::new);
  }
}
