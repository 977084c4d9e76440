package dev.lockstep.server.purchase;

import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HeldLine;
import dev.lockstep.hold.Hold;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.Overloaded;
import dev.lockstep.hold.HoldState;
import dev.lockstep.hold.Line;
import dev.lockstep.server.campaign.Campaign;
import dev.lockstep.server.campaign.Campaigns;
import dev.lockstep.server.payment.IntentId;
import dev.lockstep.server.payment.PaymentResult.Succeeded;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Goods for money that came when the hold had ended: the same units if they are free, others of the
 * same pools if there are any, else the money goes back.
 *
 * <p>Each of the two attempts has a hold id that follows from the purchase, so that several nodes,
 * or one after a crash, take the same hold and not one each.
 */
final class LateGoods {
  /** It is confirmed at once; should nobody come to that, the stock is free again soon. */
  private static final Duration HOLD_FOR = Duration.ofMinutes(10);

  private final Campaigns campaigns;
  private final Refunds refunds;

  LateGoods(Campaigns campaigns, Refunds refunds) {
    this.campaigns = campaigns;
    this.refunds = refunds;
  }

  private record Attempt(HoldId hold, List<Line> lines) {}

  /**
   * @param paid whose money is here
   * @param ended the hold it had
   */
  CompletionStage<Purchase> find(Purchase paid, Hold ended, Saga saga) {
    List<Attempt> attempts = new ArrayList<>();
    attempts.add(new Attempt(id(paid, "same"), lines(ended, true)));
    if (ended.lines().stream().anyMatch(line -> !line.units().isEmpty())) {
      attempts.add(new Attempt(id(paid, "other"), lines(ended, false)));
    }
    // What an earlier attempt got, and lost again, is not tried a second time.
    for (int i = attempts.size() - 1; i >= 0; i--) {
      if (attempts.get(i).hold().equals(ended.id())) {
        attempts.subList(0, i + 1).clear();
      }
    }
    return campaigns
        .find(paid.id().campaign())
        .toCompletionStage()
        .thenCompose(campaign -> tryNext(paid, campaign, attempts, saga));
  }

  private CompletionStage<Purchase> tryNext(
      Purchase paid, Campaign campaign, List<Attempt> attempts, Saga saga) {
    if (attempts.isEmpty()) {
      return refunds.begin(paid);
    }
    Attempt attempt = attempts.get(0);
    List<Attempt> rest = attempts.subList(1, attempts.size());
    Acquire command =
        new Acquire(
            campaign.scope(),
            attempt.hold(),
            new BuyerId(paid.buyer()),
            attempt.lines(),
            HOLD_FOR,
            Saga.ACTOR);
    Step.Replace step = new Step.Replace(paid, campaign);
    return saga.take(
        command,
        step,
        outcome -> {
          if (outcome instanceof Overloaded) {
            return Saga.done(paid);
          }
          boolean got =
              outcome instanceof Granted granted
                  && (granted.hold().state() == HoldState.HELD
                      || granted.hold().state() == HoldState.SOLD);
          return got
              ? saga.settle(step.having(((Granted) outcome).hold()), succeeded(paid))
              : tryNext(paid, campaign, rest, saga);
        });
  }

  private static Succeeded succeeded(Purchase paid) {
    IntentId intent = paid.payment().intent().orElseThrow();
    return new Succeeded(intent, paid.total());
  }

  private static HoldId id(Purchase paid, String attempt) {
    return HoldId.forKey(new BuyerId(paid.id().toString()), attempt);
  }

  private static List<Line> lines(Hold ended, boolean sameUnits) {
    List<Line> lines = new ArrayList<>();
    for (HeldLine line : ended.lines()) {
      lines.add(
          sameUnits && !line.units().isEmpty()
              ? Line.units(line.pool(), line.units())
              : Line.of(line.pool(), line.quantity()));
    }
    return lines;
  }
}
