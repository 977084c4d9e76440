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
 * Finds goods for money that arrived after the hold had ended: the same units if they are free,
 * else others of the same pools, else the money goes back.
 *
 * <p>A replacement has a random id, which nobody can guess. It becomes the purchase's own in the
 * transaction that takes it, so of several nodes that try, only one takes stock.
 */
final class LateGoods {
  /** It is confirmed at once; after a crash, the stock is soon free again. */
  private static final Duration HOLD_FOR = Duration.ofMinutes(10);

  private final Refunds refunds;

  LateGoods(Refunds refunds) {
    this.refunds = refunds;
  }

  /**
   * @param paid a paid purchase whose hold has ended
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
