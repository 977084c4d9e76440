package dev.lockstep.server.purchase;

import dev.lockstep.sql.StoredEnum;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;

/** The states of a purchase, with their codes in the table. Diagram: docs/concepts.md. */
public enum PurchaseStatus implements StoredEnum {
  PENDING(0, "pending", "pending"),
  REQUIRES_ACTION(1, "requiresAction", "requires_action"),
  COMPLETED(2, "completed", "succeeded"),
  FAILED(3, "failed", "failed"),
  EXPIRED(4, "expired", "canceled"),
  REFUNDING(5, "refunding", "refunding"),
  REFUNDED(6, "refunded", "refunded"),
  /** The card was declined; the hold stays, and another card may be tried. */
  REQUIRES_PAYMENT_METHOD(7, "requiresPaymentMethod", "requires_payment_method");

  /** A payment is in progress. */
  static final Set<PurchaseStatus> PAYING = Set.of(PENDING, REQUIRES_ACTION);

  /** Neither ended nor being refunded. If it is paid, its hold lacks the goods. */
  static final Set<PurchaseStatus> OPEN = Set.of(PENDING, REQUIRES_ACTION, REQUIRES_PAYMENT_METHOD);

  /** Statuses that a late payment still turns into a sale or a refund. */
  static final Set<PurchaseStatus> NOT_SOLD =
      Set.of(PENDING, REQUIRES_ACTION, REQUIRES_PAYMENT_METHOD, FAILED, EXPIRED);

  private final int code;
  private final String label;
  private final String payment;

  PurchaseStatus(int code, String label, String payment) {
    this.code = code;
    this.label = label;
    this.payment = payment;
  }

  /** Nothing more happens without a new request. */
  boolean isEnd() {
    return !isOpen() && this != REFUNDING;
  }

  /** Neither ended nor being refunded. */
  public boolean isOpen() {
    return OPEN.contains(this);
  }

  String label() {
    return label;
  }

  /** The status of its payment. */
  String payment() {
    return payment;
  }

  @Override
  public short code() {
    return (short) code;
  }

  /** One bit per status, for a guard in SQL. */
  static int mask(Set<PurchaseStatus> some) {
    return some.stream().mapToInt(status -> 1 << status.code).sum();
  }

  public static PurchaseStatus of(int code) {
    return Arrays.stream(values()).filter(status -> status.code == code).findFirst().orElseThrow();
  }

  static Optional<PurchaseStatus> find(String label) {
    return Arrays.stream(values()).filter(status -> status.label.equals(label)).findFirst();
  }

  static String[] labels() {
    return Arrays.stream(values()).map(PurchaseStatus::label).toArray(String[]::new);
  }
}
