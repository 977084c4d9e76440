package dev.lockstep.server.reconciliation;

import dev.lockstep.server.payment.PaymentHistory.Charge;
import dev.lockstep.server.payment.PaymentHistory.GivenBack;
import dev.lockstep.server.payment.PaymentHistory.Standing;
import dev.lockstep.server.purchase.Status;
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
                  Kind.NOT_CHARGED,
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
          Kind.AMOUNT_DIFFERS,
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
  static boolean isSuspect(GivenBack refund, Paid purchase) {
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
   * @param givenBack everything refunded or on its way, in the payment's currency
   */
  static Optional<Finding> ofRefunds(Charge charge, Paid purchase, long givenBack) {
    long amount = purchase.amount();
    if (givenBack > amount) {
      return ofRefunds(
          Kind.AMOUNT_DIFFERS, charge, purchase, givenBack, "the provider gave back %d of %d");
    }
    if (givenBack < purchase.refunded() && purchase.status() != Status.REFUNDED) {
      return Optional.of(notGivenBack(purchase, givenBack));
    }
    boolean part =
        givenBack > purchase.refunded() && givenBack < amount && !isOnItsWay(purchase, givenBack);
    return switch (purchase.status()) {
      case COMPLETED ->
          givenBack == amount && purchase.refunded() < amount
              ? ofRefunds(
                  Kind.REFUNDED_THERE,
                  charge,
                  purchase,
                  givenBack,
                  "refunded at the provider but not here: %d of %d; the goods are still sold")
              : partly(charge, purchase, givenBack, part);
      case REFUNDING -> partly(charge, purchase, givenBack, part);
      case REFUNDED ->
          givenBack < amount
              ? Optional.of(notGivenBack(purchase, givenBack))
              : Optional.<Finding>empty();
      default -> Optional.<Finding>empty();
    };
  }

  /** The part that is being refunded has gone back there already. */
  private static boolean isOnItsWay(Paid purchase, long givenBack) {
    return purchase.givenBack().inProgress() == givenBack - purchase.refunded();
  }

  private static Optional<Finding> partly(
      Charge charge, Paid purchase, long givenBack, boolean part) {
    return part
        ? ofRefunds(
            Kind.PARTLY_REFUNDED_THERE,
            charge,
            purchase,
            givenBack,
            "partly refunded at the provider: %d of %d")
        : Optional.empty();
  }

  private static Optional<Finding> ofRefunds(
      Kind kind, Charge charge, Paid purchase, long givenBack, String detail) {
    return found(
        kind,
        charge.id(),
        charge.id(),
        purchase,
        charge.createdAt(),
        detail.formatted(givenBack, purchase.amount()),
        givenBack,
        charge.currency());
  }

  /** About a purchase whose payment the provider does not know. */
  static Finding unknownThere(Paid purchase) {
    return found(
            Kind.PAYMENT_UNKNOWN,
            String.valueOf(purchase.intent()),
            purchase.intent(),
            purchase,
            purchase.createdAt().toInstant(),
            "sold here by a payment that the provider does not know")
        .orElseThrow();
  }

  static Finding notGivenBack(Paid purchase, long givenBack) {
    return found(
            Kind.REFUND_UNKNOWN,
            String.valueOf(purchase.intent()),
            purchase.intent(),
            purchase,
            purchase.createdAt().toInstant(),
            "refunded here, but the provider has given back %d of %d"
                .formatted(givenBack, purchase.refunded()))
        .orElseThrow();
  }

  private static Optional<Finding> unknown(Charge charge, @Nullable Paid purchase, String detail) {
    return found(
        Kind.CHARGED_UNKNOWN,
        charge.id(),
        charge.id(),
        purchase,
        charge.createdAt(),
        detail,
        charge.received(),
        charge.currency());
  }

  private static Optional<Finding> found(
      Kind kind,
      String subject,
      @Nullable String payment,
      Paid purchase,
      Instant since,
      String detail) {
    return found(
        kind, subject, payment, purchase, since, detail, purchase.amount(), purchase.currency());
  }

  private static Optional<Finding> found(
      Kind kind,
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
