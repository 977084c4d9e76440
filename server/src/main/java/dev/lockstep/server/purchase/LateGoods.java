package dev.lockstep.server.purchase;

import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.HoldOutcome.Granted;
import dev.lockstep.hold.HoldOutcome.HoldsOverloaded;
import dev.lockstep.hold.Line;
import dev.lockstep.server.campaign.Campaign;
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
 * <p>A replacement has a random id, which nobody can work out, and becomes the purchase's own in
 * the transaction that takes it. Of several nodes that try, one does so, and the others take
 * nothing.
 */
final class LateGoods {
  /** It is confirmed at once; should nobody come to that, the stock is free again soon. */
  private static final Duration HOLD_FOR = Duration.ofMinutes(10);

  private final Refunds refunds;

  LateGoods(Refunds refunds) {
    this.refunds = refunds;
  }

  /**
   * @param paid whose money is here, and whose hold has ended
   */
  CompletionStage<Purchase> find(Purchase paid, Campaign campaign, Saga saga) {
    List<Line> lines = paid.lines(campaign);
    List<List<Line>> attempts = new ArrayList<>();
    attempts.add(lines);
    if (lines.stream().anyMatch(line -> !line.units().isEmpty())) {
      attempts.add(lines.stream().map(line -> Line.of(line.pool(), line.quantity())).toList());
    }
    return tryNext(paid, campaign, attempts, saga);
  }

  private CompletionStage<Purchase> tryNext(
      Purchase paid, Campaign campaign, List<List<Line>> attempts, Saga saga) {
    if (attempts.isEmpty()) {
      return refunds.begin(paid);
    }
    List<List<Line>> rest = attempts.subList(1, attempts.size());
    Acquire command =
        new Acquire(
            campaign.scope(),
            HoldId.next(),
            new BuyerId(paid.buyer()),
            attempts.get(0),
            HOLD_FOR,
            Saga.ACTOR);
    Step.Replace step = new Step.Replace(paid, campaign);
    return saga.take(
        command,
        step,
        outcome -> {
          if (outcome instanceof HoldsOverloaded) {
            return Saga.done(paid);
          }
          return outcome instanceof Granted granted
              ? saga.settle(step.having(granted.hold()), succeeded(paid))
              : tryNext(paid, campaign, rest, saga);
        });
  }

  private static Succeeded succeeded(Purchase paid) {
    IntentId intent = paid.payment().intent().orElseThrow();
    return new Succeeded(intent, paid.total());
  }
}
