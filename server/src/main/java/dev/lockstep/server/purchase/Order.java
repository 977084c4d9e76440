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
 * @param taking the hold that is taken with it; empty: a checkout, of one that was there before
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
   * What an older version would have called the purchase of this key. It named holds of purchases
   * as those of carts, with a word before the key; nothing has such an id any more. A key is
   * forgotten after its day, and a purchase never.
   */
  Optional<UUID> olderId() {
    return taking.map(
        acquire -> HoldId.forKey(new BuyerId(key.owner()), "purchase " + key.key()).value());
  }

  /** Whether a purchase that an older version made under this key is of the same goods. */
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
