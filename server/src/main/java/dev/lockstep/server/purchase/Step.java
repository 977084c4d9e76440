package dev.lockstep.server.purchase;

import dev.lockstep.hold.Hold;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.HoldEnded;
import dev.lockstep.hold.HoldOutcome.LifetimeReached;
import dev.lockstep.hold.HoldOutcome.LinesDiffer;
import dev.lockstep.hold.HoldOutcome.PartReturned;
import dev.lockstep.hold.HoldState;
import dev.lockstep.server.campaign.Campaign;
import dev.lockstep.server.cart.CartView;
import dev.lockstep.server.payment.IntentId;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * A step of a purchase, taken in the transaction that moves its stock. The outcome of the hold
 * decides what is written.
 */
sealed interface Step {
  Purchase purchase();

  /** The provider's event that led to this step. */
  Optional<String> event();

  /** What to write after this outcome of the hold; empty for nothing. */
  Optional<Change> after(HoldOutcome outcome);

  /** Whether stock has just moved. */
  default boolean movesStock(HoldOutcome outcome) {
    return (outcome instanceof Ended ended && !ended.replayed())
        || (outcome instanceof Granted granted && !granted.replayed());
  }

  /** Completes a paid purchase by confirming its hold. */
  record Complete(Purchase purchase, IntentId intent, Optional<String> event) implements Step {
    @Override
    public Optional<Change> after(HoldOutcome outcome) {
      if (outcome instanceof Ended) {
        return Optional.of(Change.answering(purchase, PurchaseStatus.NOT_SOLD, completed()));
      }
      // The hold has ended or changed. The money must not be forgotten if this process dies before
      // it finds other goods or refunds.
      return without(outcome).map(paid -> Change.silent(purchase, PurchaseStatus.NOT_SOLD, paid));
    }

    /** The purchase with its money and without its goods, if that is the outcome. */
    private Optional<Purchase> without(HoldOutcome outcome) {
      if (outcome instanceof LinesDiffer) {
        return Optional.of(paidForOther());
      }
      return outcome instanceof HoldEnded ? Optional.of(paidLate()) : Optional.empty();
    }

    Purchase completed() {
      return purchase.completed(intent);
    }

    /** Paid, while its hold has changed. */
    Purchase paidForOther() {
      return purchase.paidForOther(intent);
    }

    /** Paid, after its hold had ended. */
    Purchase paidLate() {
      return purchase.paidLate(intent);
    }
  }

  /**
   * Ends a purchase that no money came for, by releasing its hold.
   *
   * @param ended the purchase afterwards
   */
  record End(Purchase purchase, Purchase ended, Optional<String> event) implements Step {
    @Override
    public Optional<Change> after(HoldOutcome outcome) {
      boolean sold = outcome instanceof HoldEnded other && other.hold().state().wasSold();
      boolean gone = outcome instanceof Ended || (outcome instanceof HoldEnded && !sold);
      return gone
          ? Optional.of(Change.answering(purchase, PurchaseStatus.OPEN, ended))
          : Optional.empty();
    }
  }

  /**
   * Waits for another card, by keeping the hold.
   *
   * @param declined the purchase afterwards
   */
  record Decline(Purchase purchase, Purchase declined, Optional<String> event) implements Step {
    @Override
    public Optional<Change> after(HoldOutcome outcome) {
      boolean held = outcome instanceof Granted || outcome instanceof LifetimeReached;
      return held
          ? Optional.of(Change.answering(purchase, PurchaseStatus.PAYING, declined))
          : Optional.empty();
    }

    /** Keeping a hold longer moves none. */
    @Override
    public boolean movesStock(HoldOutcome outcome) {
      return false;
    }
  }

  /** Completes a refund, by taking its goods back if there are any. */
  record Refund(Purchase purchase) implements Step {
    @Override
    public Optional<String> event() {
      return Optional.empty();
    }

    @Override
    public Optional<Change> after(HoldOutcome outcome) {
      boolean part = purchase.partialRefunds().part().isPresent();
      return part && !(outcome instanceof PartReturned)
          ? Optional.empty()
          : Optional.of(
              Change.silent(purchase, Set.of(PurchaseStatus.REFUNDING), purchase.refunded(true)));
    }

    @Override
    public boolean movesStock(HoldOutcome outcome) {
      return outcome instanceof PartReturned || Step.super.movesStock(outcome);
    }
  }

  /** Waits for the buyer to pass a challenge, by keeping the hold. */
  record Challenge(
      Purchase purchase,
      IntentId intent,
      String clientSecret,
      Duration actionWindow,
      Optional<String> event)
      implements Step {
    @Override
    public Optional<Change> after(HoldOutcome outcome) {
      Purchase waiting = purchase.requiringAction(intent, clientSecret, actionWindow);
      return Optional.of(Change.answering(purchase, Set.of(PurchaseStatus.PENDING), waiting));
    }

    /** Keeping a hold longer moves none. */
    @Override
    public boolean movesStock(HoldOutcome outcome) {
      return false;
    }
  }

  /** Gives other goods to a purchase that was paid too late, by taking their hold. */
  record Replace(Purchase purchase, Campaign campaign) implements Step {
    @Override
    public Optional<String> event() {
      return Optional.empty();
    }

    @Override
    public Optional<Change> after(HoldOutcome outcome) {
      return purchase.paid()
              && outcome instanceof Granted granted
              && granted.hold().state() == HoldState.HELD
          ? Optional.of(
              Change.silent(purchase, Set.of(PurchaseStatus.PENDING), having(granted.hold())))
          : Optional.empty();
    }

    Purchase having(Hold hold) {
      return purchase.having(hold.id(), CartView.items(campaign, hold));
    }
  }
}
