package dev.lockstep.server.purchase;

import dev.lockstep.hold.Actor;
import dev.lockstep.hold.HoldCommand;
import dev.lockstep.hold.HoldCommand.Extend;
import dev.lockstep.hold.HoldCommand.Release;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.HoldOutcome.HoldEnded;
import dev.lockstep.hold.HoldOutcome.HoldsOverloaded;
import dev.lockstep.hold.Holds;
import dev.lockstep.server.campaign.Campaigns;
import dev.lockstep.server.cases.Cases;
import dev.lockstep.server.payment.IntentId;
import dev.lockstep.server.payment.PaymentResult;
import dev.lockstep.server.payment.PaymentResult.Canceled;
import dev.lockstep.server.payment.PaymentResult.Declined;
import dev.lockstep.server.payment.PaymentResult.Open;
import dev.lockstep.server.payment.PaymentResult.Rejected;
import dev.lockstep.server.payment.PaymentResult.RequiresAction;
import dev.lockstep.server.payment.PaymentResult.Succeeded;
import dev.lockstep.server.payment.PaymentResult.Unknown;
import dev.lockstep.server.payment.Payments;
import dev.lockstep.server.purchase.Mismatch.Kind;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings purchases to their end. Every report of the provider goes through {@link #settle}: an
 * answer, an event or the timer's question. They may come in any order and any number of times,
 * because each step is taken under the hold's lock and only from a status that still allows it.
 *
 * <p>No transaction is open while the provider is asked. Thread-safe; stages complete on the
 * combiner's or the payments' threads.
 */
final class Saga {
  private static final Logger log = LoggerFactory.getLogger(Saga.class);

  /**
   * How long a hold in checkout cannot expire: only this saga may end it, after canceling the
   * payment. Bounded, so that stock comes back even if no server ever does.
   */
  static final Duration KEPT_FOR = Duration.ofHours(24);

  /**
   * The longest time to pay; shorter than the provider remembers a key, and than holds are kept.
   */
  static final Duration MAX_PAY_WITHIN = Duration.ofHours(23);

  static final Actor ACTOR = Actor.operator("payments");

  /** Errors about this server or its key. They say nothing about the payment, which may exist. */
  private static final Set<String> SAYS_NOTHING =
      Set.of("unauthorized", PurchaseView.OVERLOADED, "idempotency_key_in_use");

  /** Continues after the provider's report on an open, unpaid purchase. */
  @FunctionalInterface
  private interface Next {
    CompletionStage<Purchase> take(Saga saga, Purchase purchase, Optional<String> event);
  }

  private static final Cases<PaymentResult, Next> NEXT =
      Cases.<PaymentResult, Next>over(PaymentResult.class)
          .when(
              RequiresAction.class, said -> (saga, one, event) -> saga.challenge(one, said, event))
          .when(Declined.class, said -> (saga, one, event) -> saga.declined(one, said, event))
          .when(
              Canceled.class,
              said ->
                  (saga, one, event) ->
                      saga.end(one, "canceled", Optional.of(said.intent()), event))
          .when(Open.class, said -> (saga, one, event) -> saga.open(one, said))
          .when(Rejected.class, said -> (saga, one, event) -> saga.rejected(one, said, event))
          .when(Unknown.class, said -> (saga, one, event) -> done(one))
          .never(Succeeded.class)
          .complete();

  /** Whether a payment to be canceled has ended. */
  private static final Cases<PaymentResult, Boolean> IS_OVER =
      Cases.<PaymentResult, Boolean>over(PaymentResult.class)
          .when(Succeeded.class, succeeded -> true)
          .when(Canceled.class, canceled -> true)
          .when(Rejected.class, rejected -> !SAYS_NOTHING.contains(rejected.code()))
          .when(RequiresAction.class, waiting -> false)
          .when(Declined.class, declined -> false)
          .when(Open.class, open -> false)
          .when(Unknown.class, unknown -> false)
          .complete();

  private final Holds holds;
  private final Payments payments;
  private final Timings timings;
  private final StepCompanion companion;
  private final Campaigns campaigns;
  private final Completion completion;
  private final PaymentsInFlight underWay;
  private final Mismatches mismatches;
  private final PurchaseStore store;

  /**
   * @param underWay tracks what is being paid for
   */
  Saga(
      Holds holds,
      Payments payments,
      Timings timings,
      StepCompanion companion,
      Campaigns campaigns,
      LateGoods late,
      PaymentsInFlight underWay,
      Mismatches mismatches,
      PurchaseStore store) {
    this.holds = holds;
    this.payments = payments;
    this.timings = timings;
    this.companion = companion;
    this.campaigns = campaigns;
    this.completion = new Completion(holds, late, store);
    this.underWay = underWay;
    this.mismatches = mismatches;
    this.store = store;
  }

  /** Pays for a new purchase, or repeats a payment whose outcome is unknown. */
  CompletionStage<Purchase> pay(Purchase purchase) {
    return underWay.add(
        purchase.id(),
        payments.pay(purchase.request()).thenCompose(result -> settle(purchase, result)));
  }

  /**
   * Repeats a payment whose outcome is unknown. If it arrived and is still open, asks how it stands
   * now: the answer under its key stays the same for a day.
   */
  CompletionStage<Purchase> payAndLookUp(Purchase purchase) {
    return payments
        .pay(purchase.request())
        .thenCompose(
            result ->
                result instanceof Open && purchase.payment().intent().isPresent()
                    ? lookUp(purchase)
                    : settle(purchase, result));
  }

  /**
   * Pays for a new purchase; never fails. The purchase is recorded, and its money may have been
   * taken: after any failure it is pending, and the timer continues.
   */
  CompletionStage<Purchase> payBegun(Purchase begun) {
    return CompletableFuture.completedStage(begun)
        .thenCompose(this::pay)
        .exceptionally(
            thrown -> {
              log.warn("Purchase {} is left to the timer: {}", begun.id(), thrown.toString());
              return begun;
            });
  }

  CompletionStage<Purchase> settle(Purchase purchase, PaymentResult result) {
    return settle(purchase, result, Optional.empty());
  }

  /**
   * Acts upon a report of the provider. An open payment stays open, for the timer; a mismatch is
   * stored, sells nothing, and ends a purchase whose time is up.
   *
   * @param event the id of the event that reported it
   * @return the purchase afterwards, as far as this step knows
   */
  CompletionStage<Purchase> settle(
      Purchase purchase, PaymentResult result, Optional<String> event) {
    if (result instanceof Succeeded succeeded) {
      return Mismatch.of(purchase, succeeded, event)
          .map(mismatch -> disagree(purchase, mismatch))
          .orElseGet(() -> complete(purchase, succeeded.intent(), event));
    }
    if (!PurchaseStatus.OPEN.contains(purchase.status())
        || purchase.paid()
        || Mismatch.isOther(purchase, result)) {
      return done(purchase);
    }
    return NEXT.of(result).take(this, purchase, event);
  }

  private CompletionStage<Purchase> open(Purchase purchase, Open open) {
    return purchase.payment().intent().isEmpty()
        ? store.know(purchase, open.intent())
        : done(purchase);
  }

  private CompletionStage<Purchase> rejected(
      Purchase purchase, Rejected rejected, Optional<String> event) {
    boolean repeated = purchase.looks() > 0 || !purchase.tries().isFirst();
    if (repeated && SAYS_NOTHING.contains(rejected.code())) {
      return done(purchase);
    }
    return purchase.tries().isFirst() || purchase.expiring()
        ? end(purchase, rejected.code(), Optional.empty(), event)
        : declined(purchase, new Declined(Optional.empty(), rejected.code(), ""), event);
  }

  /**
   * Its time is up: cancels the payment, then releases the hold. If the payment cannot be canceled
   * now, the hold stays, and the timer retries.
   */
  CompletionStage<Purchase> expire(Purchase purchase) {
    Optional<IntentId> intent = purchase.payment().intent();
    if (intent.isEmpty() && purchase.status() == PurchaseStatus.REQUIRES_PAYMENT_METHOD) {
      // Its tries were refused before the provider made a payment of them.
      return end(purchase, "canceled", intent, Optional.empty());
    }
    CompletionStage<PaymentResult> canceled =
        intent.isPresent() ? payments.cancel(intent.get()) : payments.abandon(purchase.request());
    return canceled.thenCompose(
        result -> {
          if (IS_OVER.of(result)) {
            return settle(purchase, result);
          }
          return (result instanceof Open ? settle(purchase, result) : done(purchase))
              .thenCompose(this::keep);
        });
  }

  /** Continues with a purchase that is known to be paid. */
  CompletionStage<Purchase> resumePaid(Purchase purchase) {
    IntentId intent = purchase.payment().intent().orElseThrow();
    return settle(purchase, new Succeeded(intent, purchase.total()));
  }

  /** Asks the provider about a payment that has not finished. */
  CompletionStage<Purchase> lookUp(Purchase purchase) {
    return payments
        .find(purchase.payment().intent().orElseThrow())
        .thenCompose(
            result -> result instanceof Rejected ? done(purchase) : settle(purchase, result));
  }

  /** Keeps the hold of a payment whose outcome is unknown, so that nobody else gets it. */
  CompletionStage<Purchase> keep(Purchase purchase) {
    return holds.submit(extend(purchase)).thenApply(kept -> purchase);
  }

  private CompletionStage<Purchase> complete(
      Purchase purchase, IntentId intent, Optional<String> event) {
    return campaigns
        .find(purchase.id().campaign())
        .toCompletionStage()
        .thenCompose(
            campaign ->
                completion.take(new Step.Complete(purchase, intent, event), campaign, this));
  }

  /**
   * Handles the wrong money, or another payment's. The right money may still come in time; after
   * that, the goods return to stock, and a person handles the money.
   */
  private CompletionStage<Purchase> disagree(Purchase purchase, Mismatch mismatch) {
    boolean over =
        purchase.expiring()
            && mismatch.kind() != Kind.INTENT
            && PurchaseStatus.OPEN.contains(purchase.status())
            && !purchase.paid();
    return mismatches
        .note(mismatch)
        .thenCompose(
            noted ->
                over
                    ? end(
                        purchase,
                        "payment_mismatch",
                        Optional.of(mismatch.intent()),
                        Optional.empty())
                    : done(purchase));
  }

  private CompletionStage<Purchase> challenge(
      Purchase purchase, RequiresAction challenge, Optional<String> event) {
    if (purchase.status() != PurchaseStatus.PENDING || purchase.expiring()) {
      return done(purchase);
    }
    Step.Challenge step =
        new Step.Challenge(
            purchase, challenge.intent(), challenge.clientSecret(), timings.actionWindow(), event);
    return take(
        extend(purchase),
        step,
        outcome ->
            done(
                outcome instanceof HoldsOverloaded
                    ? purchase
                    : purchase.requiringAction(
                        challenge.intent(), challenge.clientSecret(), timings.actionWindow())));
  }

  /**
   * The hold stays, for another card, unless its time is up or this was the last try. The same
   * intent takes the next card, so it can be paid once only, however many tries meet.
   *
   * <p>After a challenge the buyer has the intent's secret and might pay it elsewhere, so before
   * the end it is canceled; the event may also be older than a success.
   */
  private CompletionStage<Purchase> declined(
      Purchase purchase, Declined declined, Optional<String> event) {
    if (!PurchaseStatus.PAYING.contains(purchase.status())) {
      return done(purchase);
    }
    Optional<IntentId> intent = declined.intent().or(() -> purchase.payment().intent());
    if (!purchase.expiring() && !purchase.tries().isLast()) {
      return anotherCard(purchase, purchase.declined(declined.code(), intent), event);
    }
    Purchase tried = purchase.failedTry(declined.code());
    boolean secretIsOut = purchase.payment().clientSecret().isPresent();
    if (!secretIsOut || intent.isEmpty()) {
      return end(purchase, tried, declined.code(), intent, event);
    }
    return payments
        .cancel(intent.get())
        .thenCompose(
            result -> {
              if (result instanceof Canceled) {
                return end(purchase, tried, declined.code(), intent, event);
              }
              return result instanceof Succeeded ? settle(purchase, result, event) : done(purchase);
            });
  }

  private CompletionStage<Purchase> anotherCard(
      Purchase purchase, Purchase declined, Optional<String> event) {
    return take(
        extend(purchase),
        new Step.Decline(purchase, declined, event),
        outcome -> {
          if (outcome instanceof HoldsOverloaded) {
            return done(purchase);
          }
          return outcome instanceof HoldEnded
              ? end(purchase, declined, declined.failure().orElseThrow(), Optional.empty(), event)
              : done(declined);
        });
  }

  private CompletionStage<Purchase> end(
      Purchase purchase, String why, Optional<IntentId> intent, Optional<String> event) {
    return end(purchase, purchase, why, intent, event);
  }

  /**
   * @param tried the purchase with the try that failed
   */
  private CompletionStage<Purchase> end(
      Purchase purchase,
      Purchase tried,
      String why,
      Optional<IntentId> intent,
      Optional<String> event) {
    Purchase ended =
        purchase.givenUp()
            ? tried.ended(PurchaseStatus.FAILED, Purchase.GIVEN_UP, intent)
            : tried.ended(
                purchase.expiring() ? PurchaseStatus.EXPIRED : PurchaseStatus.FAILED, why, intent);
    return take(
        new Release(purchase.id().scope(), purchase.hold(), ACTOR),
        new Step.End(purchase, ended, event),
        outcome -> {
          if (outcome instanceof HoldsOverloaded) {
            return done(purchase);
          }
          return outcome instanceof HoldEnded other && other.hold().state().wasSold()
              ? store.reload(purchase.id())
              : done(ended);
        });
  }

  /** Moves stock and purchase together; if the purchase has moved on, only reads it again. */
  <R extends HoldOutcome> CompletionStage<Purchase> take(
      HoldCommand<R> command, Step step, Function<R, CompletionStage<Purchase>> then) {
    return holds
        .submit(command, companion, step)
        .thenCompose(
            taken -> {
              companion.committed(taken);
              return taken.resultOr(outcome -> new StepResult.Idle()) instanceof StepResult.TooLate
                  ? store.reload(step.purchase().id())
                  : then.apply(taken.outcome());
            });
  }

  private static Extend extend(Purchase purchase) {
    return new Extend(purchase.id().scope(), purchase.hold(), KEPT_FOR, ACTOR);
  }

  static CompletionStage<Purchase> done(Purchase purchase) {
    return CompletableFuture.completedStage(purchase);
  }
}
