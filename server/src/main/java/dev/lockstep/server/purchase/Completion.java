package dev.lockstep.server.purchase;

import dev.lockstep.hold.Hold;
import dev.lockstep.hold.HoldCommand.Confirm;
import dev.lockstep.hold.HoldCommand.Release;
import dev.lockstep.hold.HoldEndResult;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldOutcome.HoldEnded;
import dev.lockstep.hold.HoldOutcome.HoldsOverloaded;
import dev.lockstep.hold.HoldOutcome.LinesDiffer;
import dev.lockstep.hold.HoldOutcome.NotYours;
import dev.lockstep.hold.HoldOutcome.UnknownHold;
import dev.lockstep.hold.HoldOutcome.Vetoed;
import dev.lockstep.hold.HoldState;
import dev.lockstep.hold.Holds;
import dev.lockstep.server.campaign.Campaign;
import dev.lockstep.server.cases.Cases;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Completes a paid purchase. This step binds goods to money: the hold is sold only if it contains
 * what was paid for. Thread-safe.
 */
final class Completion {
  private static final Logger log = LoggerFactory.getLogger(Completion.class);

  /** Continues after the outcome of the hold. */
  @FunctionalInterface
  private interface Next {
    CompletionStage<Purchase> take(Completion completion, Attempt attempt);
  }

  /** A step in progress, and its saga. */
  private record Attempt(Step.Complete step, Campaign campaign, Saga saga) {}

  /** Nothing was done; the timer will retry. */
  private static final Next LATER = (completion, attempt) -> Saga.done(attempt.step().purchase());

  private static final Cases<HoldEndResult, Next> NEXT =
      Cases.<HoldEndResult, Next>over(HoldEndResult.class)
          .when(Ended.class, sold -> (completion, attempt) -> Saga.done(attempt.step().completed()))
          .when(
              LinesDiffer.class,
              differ -> (completion, attempt) -> completion.releaseOther(attempt, differ.hold()))
          .when(
              HoldEnded.class,
              ended -> (completion, attempt) -> completion.tooLate(attempt, ended.hold()))
          .when(UnknownHold.class, unknown -> LATER)
          .when(NotYours.class, other -> LATER)
          .when(Vetoed.class, vetoed -> LATER)
          .when(HoldsOverloaded.class, full -> LATER)
          .complete();

  private final Holds holds;
  private final LateGoods late;
  private final PurchaseStore store;

  Completion(Holds holds, LateGoods late, PurchaseStore store) {
    this.holds = holds;
    this.late = late;
    this.store = store;
  }

  CompletionStage<Purchase> take(Step.Complete step, Campaign campaign, Saga saga) {
    Purchase purchase = step.purchase();
    Attempt attempt = new Attempt(step, campaign, saga);
    return saga.take(
        new Confirm(purchase.id().scope(), purchase.hold(), Saga.ACTOR, purchase.lines(campaign)),
        step,
        outcome -> NEXT.of(outcome).take(this, attempt));
  }

  private CompletionStage<Purchase> tooLate(Attempt attempt, Hold ended) {
    return ended.state() == HoldState.RETURNED
        ? store.reload(attempt.step().purchase().id())
        : findOther(attempt, attempt.step().paidLate());
  }

  /**
   * Handles a hold that somebody changed after payment: releases it, then looks for the right
   * goods.
   */
  private CompletionStage<Purchase> releaseOther(Attempt attempt, Hold other) {
    Purchase paid = attempt.step().paidForOther();
    log.error("Hold {} of purchase {} has other lines than were paid for", other.id(), paid.id());
    if (other.state() != HoldState.HELD) {
      // Sold by somebody else. The reconciliation shows the money to people.
      return Saga.done(paid);
    }
    return holds
        .submit(new Release(paid.id().scope(), other.id(), Saga.ACTOR))
        .thenCompose(
            outcome ->
                outcome instanceof HoldsOverloaded ? Saga.done(paid) : findOther(attempt, paid));
  }

  private CompletionStage<Purchase> findOther(Attempt attempt, Purchase paid) {
    return late.find(paid, attempt.campaign(), attempt.saga());
  }
}
