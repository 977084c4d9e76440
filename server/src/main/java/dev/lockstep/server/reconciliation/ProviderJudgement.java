package dev.lockstep.server.reconciliation;

import dev.lockstep.server.payment.PaymentHistory.Charge;
import dev.lockstep.server.payment.PaymentHistory.ProviderRefund;
import dev.lockstep.server.payment.PaymentHistory.Standing;
import dev.lockstep.server.purchase.PurchaseStatus;
import dev.lockstep.server.reconciliation.ProviderTable.Paid;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Compares a payment or refund of the provider with its purchase. Pure functions. Work in progress
 * on either side may look wrong for a moment, so callers must ask twice.
 */
final class ProviderJudgement {
  private ProviderJudgement() {}

  static Optional<Finding> of(Charge charge, @Nullable Paid purchase) {
    return switch (charge.standing()) {
      case OPEN, ENDED ->
          purchase != null && purchase.isSold() && charge.id().equals(purchase.intent())
              ? found(
                  FindingKind.NOT_CHARGED,
                  charge.id(),
                  charge.id(),
                  purchase,
                  charge.createdAt(),
                  "sold here, but the payment has not succeeded at the provider")
              : Optional.empty();
      case DONE -> ofCharged(charge, purchase);
    };
  }

  private static Optional<Finding> ofCharged(Charge charge, @Nullable Paid purchase) {
    if (purchase == null) {
      return unknown(charge, null, "charged, but no purchase here knows the payment");
    }
    if (purchase.intent() != null && !purchase.intent().equals(charge.id()) && purchase.paid()) {
      return unknown(charge, purchase, "charged, but another payment paid for the purchase");
    }
    if (!purchase.paid()) {
      // While it is open, the timer asks about it and its deadline is watched.
      return purchase.isOpen()
          ? Optional.empty()
          : unknown(charge, purchase, "charged, but the purchase here ended without it");
    }
    if (charge.received() != purchase.amount() || !charge.currency().equals(purchase.currency())) {
      return found(
          FindingKind.AMOUNT_DIFFERS,
          charge.id(),
          charge.id(),
          purchase,
          charge.createdAt(),
          "the provider received %d %s, but the purchase says %d %s"
              .formatted(
                  charge.received(), charge.currency(), purchase.amount(), purchase.currency()));
    }
    return Optional.empty();
  }

  /** Whether a refund's payment should be looked at, with all its refunds. */
  static boolean isSuspect(ProviderRefund refund, Paid purchase) {
    boolean ended = refund.standing() == Standing.ENDED;
    return switch (purchase.status()) {
      case COMPLETED -> !ended;
      case REFUNDING -> !ended && refund.amount() != purchase.amount();
      case REFUNDED -> ended || refund.amount() != purchase.amount();
      default -> false;
    };
  }

  /**
   * Compares all refunds of a payment with its purchase.
   *
   * @param refundedThere everything refunded or on its way, in the payment's currency
   */
  static Optional<Finding> ofRefunds(Charge charge, Paid purchase, long refundedThere) {
    long amount = purchase.amount();
    if (refundedThere > amount) {
      return ofRefunds(
          FindingKind.AMOUNT_DIFFERS,
          charge,
          purchase,
          refundedThere,
          "the provider gave back %d of %d");
    }
    if (refundedThere < purchase.refunded() && purchase.status() != PurchaseStatus.REFUNDED) {
      return Optional.of(notRefundedThere(purchase, refundedThere));
    }
    boolean part =
        refundedThere > purchase.refunded()
            && refundedThere < amount
            && !isOnItsWay(purchase, refundedThere);
    return switch (purchase.status()) {
      case COMPLETED ->
          refundedThere == amount && purchase.refunded() < amount
              ? ofRefunds(
                  FindingKind.REFUNDED_THERE,
                  charge,
                  purchase,
                  refundedThere,
                  "refunded at the provider but not here: %d of %d; the goods are still sold")
              : partly(charge, purchase, refundedThere, part);
      case REFUNDING -> partly(charge, purchase, refundedThere, part);
      case REFUNDED ->
          refundedThere < amount
              ? Optional.of(notRefundedThere(purchase, refundedThere))
              : Optional.<Finding>empty();
      default -> Optional.<Finding>empty();
    };
  }

  /** The part that is being refunded has gone back there already. */
  private static boolean isOnItsWay(Paid purchase, long refundedThere) {
    return purchase.partialRefunds().inProgress() == refundedThere - purchase.refunded();
  }

  private static Optional<Finding> partly(
      Charge charge, Paid purchase, long refundedThere, boolean part) {
    return part
        ? ofRefunds(
            FindingKind.PARTLY_REFUNDED_THERE,
            charge,
            purchase,
            refundedThere,
            "partly refunded at the provider: %d of %d")
        : Optional.empty();
  }

  private static Optional<Finding> ofRefunds(
      FindingKind kind, Charge charge, Paid purchase, long refundedThere, String detail) {
    return found(
        kind,
        charge.id(),
        charge.id(),
        purchase,
        charge.createdAt(),
        detail.formatted(refundedThere, purchase.amount()),
        refundedThere,
        charge.currency());
  }

  /** About a purchase whose payment the provider does not know. */
  static Finding unknownThere(Paid purchase) {
    return found(
            FindingKind.PAYMENT_UNKNOWN,
            String.valueOf(purchase.intent()),
            purchase.intent(),
            purchase,
            purchase.createdAt().toInstant(),
            "sold here by a payment that the provider does not know")
        .orElseThrow();
  }

  static Finding notRefundedThere(Paid purchase, long refundedThere) {
    return found(
            FindingKind.REFUND_UNKNOWN,
            String.valueOf(purchase.intent()),
            purchase.intent(),
            purchase,
            purchase.createdAt().toInstant(),
            "refunded here, but the provider has given back %d of %d"
                .formatted(refundedThere, purchase.refunded()))
        .orElseThrow();
  }

  private static Optional<Finding> unknown(Charge charge, @Nullable Paid purchase, String detail) {
    return found(
        FindingKind.CHARGED_UNKNOWN,
        charge.id(),
        charge.id(),
        purchase,
        charge.createdAt(),
        detail,
        charge.received(),
        charge.currency());
  }

  private static Optional<Finding> found(
      FindingKind kind,
      String subject,
      @Nullable String payment,
      Paid purchase,
      Instant since,
      String detail) {
    return found(
        kind, subject, payment, purchase, since, detail, purchase.amount(), purchase.currency());
  }

  private static Optional<Finding> found(
      FindingKind kind,
      String subject,
      @Nullable String payment,
      @Nullable Paid purchase,
      Instant since,
      String detail,
      long amount,
      String currency) {
    return Optional.of(
        new Finding(
            kind,
            purchase == null ? 0 : purchase.campaign(),
            subject,
            purchase == null ? null : purchase.name(),
            purchase == null ? null : Finding.id(purchase.campaign(), purchase.hold()),
            purchase == null ? "" : purchase.buyer(),
            payment,
            amount,
            currency,
            since,
            detail));
  }
}
