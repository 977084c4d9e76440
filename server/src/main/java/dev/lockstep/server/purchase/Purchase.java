package dev.lockstep.server.purchase;

import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.Line;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.campaign.Campaign;
import dev.lockstep.server.cart.CartView;
import dev.lockstep.server.payment.IntentId;
import dev.lockstep.server.payment.Money;
import dev.lockstep.server.payment.PaymentEvent;
import dev.lockstep.server.payment.PaymentKey;
import dev.lockstep.server.payment.PaymentRequest;
import dev.lockstep.server.payment.RefundRequest;
import dev.lockstep.server.purchase.GivenBack.Part;
import io.vertx.core.json.JsonArray;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A purchase as last read or written.
 *
 * @param hold its hold, past or present
 * @param items the lines as JSON; not changed after construction
 * @param failure why it has no goods, as a code
 * @param paid whether the money has arrived
 * @param expiring its time is up, and the payment is being canceled
 * @param looks how often the timer has looked at it
 * @param deadline until when it may be paid
 * @param answer the answer to the request that made it
 * @param tries how often it was tried to pay for it
 * @param givenBack what was refunded of it in parts
 */
record Purchase(
    PurchaseId id,
    HoldId hold,
    String buyer,
    Status status,
    Money total,
    JsonArray items,
    Payment payment,
    Optional<String> failure,
    boolean paid,
    boolean expiring,
    int looks,
    Instant createdAt,
    Instant deadline,
    Optional<String> answer,
    Tries tries,
    GivenBack givenBack) {

  /** Why it has no goods if its buyer gave up. */
  static final String GIVEN_UP = "given_up";

  private static final String METADATA = "purchase";

  /** A new purchase; the database sets its times. */
  static Purchase begun(
      PurchaseId id, HoldId hold, String buyer, Money total, JsonArray items, String method) {
    return new Purchase(
        id,
        hold,
        buyer,
        Status.PENDING,
        total,
        items,
        new Payment(method, Optional.empty(), Optional.empty()),
        Optional.empty(),
        false,
        false,
        0,
        Instant.EPOCH,
        Instant.EPOCH,
        Optional.empty(),
        Tries.FIRST,
        GivenBack.NOTHING);
  }

  /** How it is paid. */
  record Payment(String method, Optional<IntentId> intent, Optional<String> clientSecret) {
    Payment of(IntentId known) {
      return new Payment(method, Optional.of(known), clientSecret);
    }

    /** Without the secret. */
    @Override
    public String toString() {
      return "Payment[" + method + ", " + intent + "]";
    }
  }

  /** The payment that its cardholder has to approve; a problem if there is none. */
  String awaitedPayment() {
    return payment
        .intent()
        .filter(intent -> status == Status.REQUIRES_ACTION)
        .map(IntentId::value)
        .orElseThrow(
            () ->
                Problem.of(
                        "nothing-to-approve",
                        409,
                        "Nothing to approve",
                        "The purchase does not wait for its cardholder; it is "
                            + status.label()
                            + ".")
                    .asException());
  }

  /**
   * Identical each time this try is sent, so that the provider makes one payment, however often
   * asked. A later try pays the same intent, which can be paid once only, whatever becomes of the
   * requests.
   */
  PaymentRequest request() {
    String key = "purchase-" + id + (tries.isFirst() ? "" : "-" + tries.number());
    return new PaymentRequest(
        new PaymentKey(key),
        total,
        payment.method(),
        Map.of(METADATA, id.toString()),
        tries.isFirst() ? Optional.empty() : payment.intent());
  }

  /** When the newest try to pay began. */
  Instant triedAt() {
    return tries.since().orElse(createdAt);
  }

  /** Identical each time it is sent, too. */
  RefundRequest refund() {
    PaymentKey key =
        new PaymentKey(
            givenBack
                .part()
                .map(part -> "refund-part-" + id + "-" + part.number())
                .orElse("refund-" + id));
    long amount = givenBack.part().map(Part::amount).orElse(total.amount() - givenBack.money());
    return new RefundRequest(
        payment.intent().orElseThrow(),
        key,
        new Money(amount, total.currency()),
        Map.of(METADATA, id.toString()),
        givenBack.money(),
        givenBack.part().isPresent());
  }

  /** Whether an event can be attributed to its own payment or to another one. */
  boolean canTell(PaymentEvent event) {
    return payment.intent().isPresent() || event.cause().equals(Optional.of(request().key()));
  }

  /**
   * Whether an event that is not final is about the newest try: there was no other, or its key
   * caused the event.
   */
  boolean isOfNewestTry(PaymentEvent event) {
    return tries.isFirst() || event.cause().equals(Optional.of(request().key()));
  }

  /**
   * Whether the provider can still be asked about its payment: it is in progress, and the key not
   * forgotten.
   */
  boolean mayBeAskedFor(Instant now) {
    return Status.PAYING.contains(status)
        && !paid
        && now.isBefore(triedAt().plus(Timer.KEY_REMEMBERED));
  }

  Purchase knowing(IntentId intent) {
    return with(status, payment.of(intent), failure, paid);
  }

  /** The purchase that a payment was made for, if it was made here. */
  static Optional<PurchaseId> of(Map<String, String> metadata) {
    return Optional.ofNullable(metadata.get(METADATA)).flatMap(PurchaseId::find);
  }

  Purchase completed(IntentId intent) {
    return with(Status.COMPLETED, payment.of(intent), Optional.empty(), true);
  }

  /** The money has arrived, the goods are gone. */
  Purchase paidLate(IntentId intent) {
    return paidWithout(intent, "paid_late");
  }

  /** The money has arrived, but the hold does not contain what was paid for. */
  Purchase paidForOther(IntentId intent) {
    return paidWithout(intent, "hold_changed");
  }

  private Purchase paidWithout(IntentId intent, String why) {
    return with(Status.PENDING, payment.of(intent), Optional.of(why), true);
  }

  /** The lines paid for, in terms of stock: nothing else is ever sold for it. */
  List<Line> lines(Campaign campaign) {
    if (CartView.total(items) != total.amount()) {
      throw new IllegalStateException("The items of purchase " + id + " are not worth its total");
    }
    return CartView.lines(campaign, items);
  }

  /** The newest try has failed. The goods stay held, for another card. */
  Purchase declined(String why, Optional<IntentId> intent) {
    return failedTry(why)
        .with(
            Status.REQUIRES_PAYMENT_METHOD,
            intent.map(payment::of).orElse(payment),
            Optional.of(why),
            false);
  }

  /** Adds the newest try to those that failed. */
  Purchase failedTry(String why) {
    return new Purchase(
        id,
        hold,
        buyer,
        status,
        total,
        items,
        payment,
        failure,
        paid,
        expiring,
        looks,
        createdAt,
        deadline,
        answer,
        tries.failed(triedAt(), payment.method(), why),
        givenBack);
  }

  /** The buyer no longer wants it: its payment is being canceled, then it fails. */
  boolean givenUp() {
    return expiring && failure.equals(Optional.of(GIVEN_UP));
  }

  /** Ends it without money; a purchase known to be paid refuses, whatever the caller believes. */
  Purchase ended(Status end, String why, Optional<IntentId> intent) {
    return with(end, intent.map(payment::of).orElse(payment), Optional.of(why), false);
  }

  /** To be refunded: all that is left. */
  Purchase refunding() {
    return with(Status.REFUNDING, payment, failure, paid);
  }

  /** To be refunded in part. */
  Purchase refunding(Part part) {
    return refunding().givingBack(items, givenBack.beginning(part));
  }

  /**
   * The money is back; after a part, the purchase is as complete as before.
   *
   * @param withGoods whether the goods came back, too
   */
  Purchase refunded(boolean withGoods) {
    if (givenBack.part().isEmpty()) {
      return with(Status.REFUNDED, payment, failure, paid)
          .givingBack(
              items,
              givenBack.equals(GivenBack.NOTHING) ? givenBack : givenBack.all(total.amount()));
    }
    JsonArray left =
        withGoods ? GivenBack.without(items, givenBack.part().orElseThrow().items()) : items;
    return with(Status.COMPLETED, payment, failure, paid)
        .givingBack(left, givenBack.donePart(withGoods));
  }

  private Purchase givingBack(JsonArray left, GivenBack now) {
    return new Purchase(
        id, hold, buyer, status, total, left, payment, failure, paid, expiring, looks, createdAt,
        deadline, answer, tries, now);
  }

  /** What was given back so far. */
  long moneyBack() {
    return status == Status.REFUNDED ? total.amount() : givenBack.money();
  }

  /** Extends the time to pay, once: not for the challenge of a second card. */
  Purchase requiringAction(IntentId intent, String clientSecret, Duration longer) {
    boolean extended = payment.clientSecret().isPresent();
    Payment known = new Payment(payment.method(), Optional.of(intent), Optional.of(clientSecret));
    return with(Status.REQUIRES_ACTION, known, Optional.empty(), paid)
        .at(createdAt, extended ? deadline : deadline.plus(longer));
  }

  Purchase at(Instant created, Instant until) {
    return new Purchase(
        id, hold, buyer, status, total, items, payment, failure, paid, expiring, looks, created,
        until, answer, tries, givenBack);
  }

  Purchase having(HoldId other, JsonArray otherItems) {
    return new Purchase(
        id,
        other,
        buyer,
        status,
        total,
        otherItems,
        payment,
        failure,
        paid,
        expiring,
        looks,
        createdAt,
        deadline,
        answer,
        tries,
        givenBack);
  }

  private Purchase with(Status changed, Payment known, Optional<String> why, boolean moneyIsHere) {
    return new Purchase(
        id,
        hold,
        buyer,
        changed,
        total,
        items,
        known,
        why,
        moneyIsHere,
        expiring,
        looks,
        createdAt,
        deadline,
        answer,
        tries,
        givenBack);
  }
}
