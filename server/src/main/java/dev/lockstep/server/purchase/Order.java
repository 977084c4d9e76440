package dev.lockstep.server.purchase;

import dev.lockstep.hold.Hold;
import dev.lockstep.once.Fingerprint;
import dev.lockstep.once.OnceKey;
import dev.lockstep.server.api.Answer;
import dev.lockstep.server.campaign.Campaign;
import dev.lockstep.server.cart.CartView;
import dev.lockstep.server.payment.Money;
import org.jspecify.annotations.Nullable;

/**
 * A request to buy on its way through the combiner, with its idempotency key. The companion leaves
 * in it, before the transaction commits, the purchase that was begun or the answer instead; it is
 * read after.
 */
final class Order {
  final Campaign campaign;
  final OnceKey key;
  final Fingerprint fingerprint;
  final String paymentMethod;
  final boolean checkout;
  private volatile @Nullable Purchase begun;
  private volatile @Nullable Answer answer;

  /**
   * @param checkout of a hold that was there before, rather than of one that is taken with it
   */
  Order(
      Campaign campaign,
      OnceKey key,
      Fingerprint fingerprint,
      String paymentMethod,
      boolean checkout) {
    this.campaign = campaign;
    this.key = key;
    this.fingerprint = fingerprint;
    this.paymentMethod = paymentMethod;
    this.checkout = checkout;
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

  /** Written again when the transaction is tried again; the last one is the one that committed. */
  void begun(Purchase purchase) {
    begun = purchase;
    answer = null;
  }

  void answered(Answer given) {
    answer = given;
    begun = null;
  }

  @Nullable Purchase begun() {
    return begun;
  }

  @Nullable Answer answer() {
    return answer;
  }
}
