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
import dev.lockstep.server.purchase.PartialRefunds.Part;
import io.vertx.core.json.JsonArray;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

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
 * @param tries the tries to pay for it
 * @param partialRefunds its partial refunds
 */
record Purchase(
    PurchaseId id,
    HoldId hold,
    String buyer,
    PurchaseStatus status,
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
    PartialRefunds partialRefunds) {

  /** The failure code if its buyer gave up. */
  static final String GIVEN_UP = "given_up";

  private static final String METADATA = "purchase";

  /** A new purchase; the database sets its times. */
  static Purchase begun(
      PurchaseId id, HoldId hold, String buyer, Money total, JsonArray items, String method) {
    return new Purchase(
        id,
        hold,
        buyer,
        PurchaseStatus.PENDING,
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
        PartialRefunds.NOTHING);
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
        .filter(intent -> status == PurchaseStatus.REQUIRES_ACTION)
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
   * Identical each time this try is sent, so that the provider makes one payment however often it
   * is asked. A later try pays the same intent, which can be paid only once, whatever happens to
   * the requests.
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

  /** Identical each time it is sent, like {@link #request}. */
  RefundRequest refund() {
    PaymentKey key =
        new PaymentKey(
            partialRefunds
                .part()
                .map(part -> "refund-part-" + id + "-" + part.number())
                .orElse("refund-" + id));
    long amount =
        partialRefunds.part().map(Part::amount).orElse(total.amount() - partialRefunds.money());
    return new RefundRequest(
        payment.intent().orElseThrow(),
        key,
        new Money(amount, total.currency()),
        Map.of(METADATA, id.toString()),
        partialRefunds.money(),
        partialRefunds.part().isPresent());
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
   * Whether the provider can still be asked about its payment: it is in progress, and the provider
   * has not forgotten the key.
   */
  boolean mayBeAskedFor(Instant now) {
    return PurchaseStatus.PAYING.contains(status)
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
    return with(PurchaseStatus.COMPLETED, payment.of(intent), Optional.empty(), true);
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
    return with(PurchaseStatus.PENDING, payment.of(intent), Optional.of(why), true);
  }

  /** The lines paid for, as stock: nothing else is ever sold for it. */
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
            PurchaseStatus.REQUIRES_PAYMENT_METHOD,
            intent.map(payment::of).orElse(payment),
            Optional.of(why),
            false);
  }

  /** Adds the newest try to those that failed. */
  Purchase failedTry(String why) {
    Tries failed = tries.failed(triedAt(), payment.method(), why);
    return with(next -> next.tries = failed);
  }

  /** The buyer no longer wants it: its payment is being canceled, then it fails. */
  boolean givenUp() {
    return expiring && failure.equals(Optional.of(GIVEN_UP));
  }

  /** Ends it without money; a purchase known to be paid refuses, whatever the caller believes. */
  Purchase ended(PurchaseStatus end, String why, Optional<IntentId> intent) {
    return with(end, intent.map(payment::of).orElse(payment), Optional.of(why), false);
  }

  /** Begins to refund all that is left. */
  Purchase refunding() {
    return with(PurchaseStatus.REFUNDING, payment, failure, paid);
  }

  /** Begins to refund a part. */
  Purchase refunding(Part part) {
    return refunding().givingBack(items, partialRefunds.beginning(part));
  }

  /**
   * The money is back. After a part, the purchase is completed again.
   *
   * @param withGoods whether the goods came back, too
   */
  Purchase refunded(boolean withGoods) {
    if (partialRefunds.part().isEmpty()) {
      return with(PurchaseStatus.REFUNDED, payment, failure, paid)
          .givingBack(
              items,
              partialRefunds.equals(PartialRefunds.NOTHING)
                  ? partialRefunds
                  : partialRefunds.all(total.amount()));
    }
    JsonArray left =
        withGoods
            ? PartialRefunds.without(items, partialRefunds.part().orElseThrow().items())
            : items;
    return with(PurchaseStatus.COMPLETED, payment, failure, paid)
        .givingBack(left, partialRefunds.donePart(withGoods));
  }

  private Purchase givingBack(JsonArray left, PartialRefunds now) {
    return with(
        next -> {
          next.items = left;
          next.partialRefunds = now;
        });
  }

  /** What was refunded so far. */
  long moneyBack() {
    return status == PurchaseStatus.REFUNDED ? total.amount() : partialRefunds.money();
  }

  /** Extends the time to pay, once: not for the challenge of a second card. */
  Purchase requiringAction(IntentId intent, String clientSecret, Duration longer) {
    boolean extended = payment.clientSecret().isPresent();
    Payment known = new Payment(payment.method(), Optional.of(intent), Optional.of(clientSecret));
    return with(PurchaseStatus.REQUIRES_ACTION, known, Optional.empty(), paid)
        .at(createdAt, extended ? deadline : deadline.plus(longer));
  }

  Purchase at(Instant created, Instant until) {
    return with(
        next -> {
          next.createdAt = created;
          next.deadline = until;
        });
  }

  Purchase having(HoldId other, JsonArray otherItems) {
    return with(
        next -> {
          next.hold = other;
          next.items = otherItems;
        });
  }

  private Purchase with(
      PurchaseStatus changed, Payment known, Optional<String> why, boolean moneyIsHere) {
    return with(
        next -> {
          next.status = changed;
          next.payment = known;
          next.failure = why;
          next.paid = moneyIsHere;
        });
  }

  private Purchase with(Consumer<Draft> change) {
    Draft next = new Draft(this);
    change.accept(next);
    return next.purchase();
  }

  /** A mutable copy, to change some values. */
  private static final class Draft {
    private final Purchase from;
    HoldId hold;
    PurchaseStatus status;
    JsonArray items;
    Payment payment;
    Optional<String> failure;
    boolean paid;
    Instant createdAt;
    Instant deadline;
    Tries tries;
    PartialRefunds partialRefunds;

    Draft(Purchase from) {
      this.from = from;
      hold = from.hold;
      status = from.status;
      items = from.items;
      payment = from.payment;
      failure = from.failure;
      paid = from.paid;
      createdAt = from.createdAt;
      deadline = from.deadline;
      tries = from.tries;
      partialRefunds = from.partialRefunds;
    }

    Purchase purchase() {
      return new Purchase(
          from.id,
          hold,
          from.buyer,
          status,
          from.total,
          items,
          payment,
          failure,
          paid,
          from.expiring,
          from.looks,
          createdAt,
          deadline,
          from.answer,
          tries,
          partialRefunds);
    }
  }
}
