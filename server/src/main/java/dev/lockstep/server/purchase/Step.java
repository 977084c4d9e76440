package dev.lockstep.server.purchase;

import dev.lockstep.hold.Hold;
import dev.lockstep.hold.HoldOutcome;
import dev.lockstep.hold.HoldOutcome.Ended;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.HoldEnded;
import dev.lockstep.hold.HoldOutcome.LinesDiffer;
import dev.lockstep.hold.HoldState;
import dev.lockstep.server.campaign.Campaign;
import dev.lockstep.server.cart.CartView;
import dev.lockstep.server.payment.IntentId;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * A step of a purchase, taken in the transaction that moves its stock: what became of the stock
 * decides what is written of the purchase.
 */
sealed interface Step {
  Purchase purchase();

  /** The provider's event that this step acts upon. */
  Optional<String> event();

  /** What to write, now that this became of the hold; empty: nothing. */
  Optional<Change> after(HoldOutcome outcome);

  /** Whether the hold's stock went somewhere just now. Keeping a hold longer moves none. */
  default boolean movesStock(HoldOutcome outcome) {
    return !(this instanceof Challenge)
        && ((outcome instanceof Ended ended && !ended.replayed())
            || (outcome instanceof Granted granted && !granted.replayed()));
  }

  /** Of a purchase whose money has arrived; goes with confirming its hold. */
  record Complete(Purchase purchase, IntentId intent, Optional<String> event) implements Step {
    @Override
    public Optional<Change> after(HoldOutcome outcome) {
      if (outcome instanceof Ended) {
        return Optional.of(Change.answering(purchase, Status.NOT_SOLD, completed()));
      }
      // The hold has ended otherwise, or has become another. That the money is here must not be
      // forgotten, whatever
      // happens to this process before it has found other goods or given the money back.
      return without(outcome).map(paid -> Change.silent(purchase, Status.NOT_SOLD, paid));
    }

    /** The purchase with its money and without its goods, if that is what came of it. */
    private Optional<Purchase> without(HoldOutcome outcome) {
      if (outcome instanceof LinesDiffer) {
        return Optional.of(paidForOther());
      }
      return outcome instanceof HoldEnded ? Optional.of(paidLate()) : Optional.empty();
    }

    Purchase completed() {
      return purchase.completed(intent);
    }

    /** With its money, while its hold has become another. */
    Purchase paidForOther() {
      return purchase.paidForOther(intent);
    }

    /** With its money, when its hold had ended. */
    Purchase paidLate() {
      return purchase.paidLate(intent);
    }
  }

  /**
   * Of a purchase for which no money came and none will; goes with releasing its hold.
   *
   * @param ended the purchase as it is to be
   */
  record End(Purchase purchase, Purchase ended, Optional<String> event) implements Step {
    @Override
    public Optional<Change> after(HoldOutcome outcome) {
      boolean sold = outcome instanceof HoldEnded other && other.hold().state().wasSold();
      boolean gone = outcome instanceof Ended || (outcome instanceof HoldEnded && !sold);
      return gone ? Optional.of(Change.answering(purchase, Status.OPEN, ended)) : Optional.empty();
    }
  }

  /** Of a purchase whose money has gone back; goes with taking its goods back, if it got any. */
  record Refund(Purchase purchase) implements Step {
    @Override
    public Optional<String> event() {
      return Optional.empty();
    }

    @Override
    public Optional<Change> after(HoldOutcome outcome) {
      return Optional.of(Change.silent(purchase, Set.of(Status.REFUNDING), purchase.refunded()));
    }
  }

  /** Of a purchase whose buyer has to pass a challenge; goes with keeping its hold. */
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
      return Optional.of(Change.answering(purchase, Set.of(Status.PENDING), waiting));
    }
  }

  /** Of a purchase that was paid too late and gets other goods; goes with taking their hold. */
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
          ? Optional.of(Change.silent(purchase, Set.of(Status.PENDING), having(granted.hold())))
          : Optional.empty();
    }

    Purchase having(Hold hold) {
      return purchase.having(hold.id(), CartView.items(campaign, hold));
    }
  }
}
