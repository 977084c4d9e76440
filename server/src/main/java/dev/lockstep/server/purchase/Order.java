package dev.lockstep.server.purchase;

import static java.util.stream.Collectors.toMap;

import dev.lockstep.hold.BuyerId;
import dev.lockstep.hold.Hold;
import dev.lockstep.hold.HoldCommand.Acquire;
import dev.lockstep.hold.HoldId;
import dev.lockstep.hold.Line;
import dev.lockstep.hold.PoolId;
import dev.lockstep.once.Fingerprint;
import dev.lockstep.once.OnceKey;
import dev.lockstep.server.api.Keyed;
import dev.lockstep.server.campaign.Campaign;
import dev.lockstep.server.cart.CartView;
import dev.lockstep.server.payment.Money;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * A request to buy on its way through the combiner, with its idempotency key.
 *
 * @param taking the hold to take; empty for a checkout of an existing hold
 */
record Order(
    Campaign campaign,
    OnceKey key,
    Fingerprint fingerprint,
    String paymentMethod,
    Optional<Acquire> taking)
    implements Keyed {

  boolean checkout() {
    return taking.isEmpty();
  }

  /** The purchase of what is held; its times are not known yet. */
  Purchase of(Hold hold) {
    return Purchase.begun(
        new PurchaseId(campaign.id(), hold.id().value()),
        hold.id(),
        hold.buyer().value(),
        new Money(CartView.total(campaign, hold), campaign.currency()),
        CartView.items(campaign, hold),
        paymentMethod);
  }

  /**
   * The id that an older release gave to the purchase of this key. New purchases have other ids.
   * Keys are forgotten after a day, purchases never, so an old one must still be found.
   */
  Optional<UUID> olderId() {
    return taking.map(
        acquire -> HoldId.forKey(new BuyerId(key.owner()), "purchase " + key.key()).value());
  }

  /** Whether an older release's purchase under this key has the same buyer and goods. */
  boolean isRepeated(Purchase older) {
    return taking
        .filter(acquire -> acquire.buyer().value().equals(older.buyer()))
        .filter(
            acquire ->
                quantities(acquire.lines())
                    .equals(quantities(CartView.lines(campaign, older.items()))))
        .isPresent();
  }

  private static Map<PoolId, Integer> quantities(List<Line> lines) {
    return lines.stream().collect(toMap(Line::pool, Line::quantity, Integer::sum));
  }
}
