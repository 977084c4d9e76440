package dev.lockstep.server.purchase;

import dev.lockstep.server.cases.Cases;
import dev.lockstep.server.payment.IntentId;
import dev.lockstep.server.payment.Money;
import dev.lockstep.server.payment.PaymentResult;
import dev.lockstep.server.payment.PaymentResult.Canceled;
import dev.lockstep.server.payment.PaymentResult.Declined;
import dev.lockstep.server.payment.PaymentResult.Open;
import dev.lockstep.server.payment.PaymentResult.Rejected;
import dev.lockstep.server.payment.PaymentResult.RequiresAction;
import dev.lockstep.server.payment.PaymentResult.Succeeded;
import dev.lockstep.server.payment.PaymentResult.Unknown;
import java.util.Locale;
import java.util.Optional;

/**
 * A report of the provider about a purchase's money that disagrees with the purchase. Nothing is
 * sold or refunded for it.
 *
 * @param intent the payment it concerns
 * @param money what the provider reports
 * @param event the event that reported it; empty for an answer
 */
record Mismatch(
    PurchaseId purchase,
    IntentId intent,
    Kind kind,
    Money money,
    Optional<String> event,
    String detail) {

  /** The payment that a result concerns, if it names one. */
  private static final Cases<PaymentResult, Optional<IntentId>> INTENTS =
      Cases.<PaymentResult, Optional<IntentId>>over(PaymentResult.class)
          .when(Succeeded.class, succeeded -> Optional.of(succeeded.intent()))
          .when(RequiresAction.class, waiting -> Optional.of(waiting.intent()))
          .when(Declined.class, Declined::intent)
          .when(Canceled.class, canceled -> Optional.of(canceled.intent()))
          .when(Open.class, open -> Optional.of(open.intent()))
          .when(Rejected.class, rejected -> Optional.empty())
          .when(Unknown.class, unknown -> Optional.empty())
          .complete();

  /** What disagrees. */
  enum Kind {
    /** Another payment claims to be for the purchase, and has money. */
    INTENT,
    /** The purchase's own payment is unknown, and the provider can no longer be asked about it. */
    UNPROVEN,
    AMOUNT,
    CURRENCY,
    /** The refund differs from what was paid. */
    REFUND_AMOUNT,
    /** The refund was tried and failed. */
    REFUND_FAILED,
    /** The provider refuses the refund. */
    REFUND_REJECTED,
    /** The provider waits for the buyer before it refunds. */
    REFUND_WAITING;

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Whether a result is known to concern another payment than the purchase's own. */
  static boolean isOther(Purchase purchase, PaymentResult result) {
    Optional<IntentId> own = purchase.payment().intent();
    Optional<IntentId> said = INTENTS.of(result);
    return own.isPresent() && said.isPresent() && !own.equals(said);
  }

  /** Checks a reported receipt of money. */
  static Optional<Mismatch> of(Purchase purchase, Succeeded said, Optional<String> event) {
    if (isOther(purchase, said)) {
      String own = purchase.payment().intent().map(IntentId::value).orElse("");
      return Optional.of(
          of(purchase, said, Kind.INTENT, event, "The purchase's own payment is " + own + "."));
    }
    Money asked = purchase.total();
    if (said.amount().equals(asked)) {
      return Optional.empty();
    }
    boolean sameCurrency = said.amount().currency().equals(asked.currency());
    return Optional.of(
        of(
            purchase,
            said,
            sameCurrency ? Kind.AMOUNT : Kind.CURRENCY,
            event,
            "Asked for " + asked + ", received " + said.amount() + "."));
  }

  static Mismatch of(
      Purchase purchase, Succeeded said, Kind kind, Optional<String> event, String detail) {
    return new Mismatch(purchase.id(), said.intent(), kind, said.amount(), event, detail);
  }

  /** About the purchase's own payment, during its refund. */
  static Mismatch ofRefund(Purchase purchase, Kind kind, Money money, String detail) {
    return new Mismatch(
        purchase.id(),
        purchase.payment().intent().orElseThrow(),
        kind,
        money,
        Optional.empty(),
        detail);
  }
}
