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
 * Something that the provider says of a purchase's money and that does not agree with the purchase.
 * Nothing is sold or given back for it.
 *
 * @param intent the payment it was said of
 * @param money what the provider says of it
 * @param event the event it was said in; empty: an answer
 */
record Mismatch(
    PurchaseId purchase,
    IntentId intent,
    Kind kind,
    Money money,
    Optional<String> event,
    String detail) {

  /** The payment that a result is about, where it says so. */
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

  /** What does not agree. */
  enum Kind {
    /** Another payment than the purchase's own says that it was made for it, and has money. */
    INTENT,
    /** It says that it was made for a purchase whose own payment nobody can ask for any more. */
    UNPROVEN,
    AMOUNT,
    CURRENCY,
    /** Other money went back than was paid. */
    REFUND_AMOUNT,
    /** The provider tried to give the money back, in vain. */
    REFUND_FAILED,
    /** The provider does not give the money back. */
    REFUND_REJECTED,
    /** The provider waits for the buyer before it gives the money back. */
    REFUND_WAITING;

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Whether a result is about another payment than the purchase's own, as far as that is known. */
  static boolean isOther(Purchase purchase, PaymentResult result) {
    Optional<IntentId> own = purchase.payment().intent();
    Optional<IntentId> said = INTENTS.of(result);
    return own.isPresent() && said.isPresent() && !own.equals(said);
  }

  /** What is wrong with money that is said to have come. */
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

  /** Of the purchase's own payment, while it is given back. */
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
