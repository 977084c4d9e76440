/**
 * Purchases: money against goods. {@code docs/purchases.md} is the user's page.
 *
 * <p>Start with {@link dev.lockstep.server.purchase.Purchases}, the entry type, then {@code Saga},
 * which settles: the provider's answer, its webhook ({@code StripeWebhook}) and a timer ({@code
 * Timer}) all call it, in any order and any number of times. Two companions write a purchase in the
 * batch that moves its stock: {@code BeginCompanion} with the hold, {@code StepCompanion} with its
 * end. {@code LateGoods} finds goods for money that came too late, {@code Refunds} sends money
 * back.
 *
 * <p>Tables owned: {@code lockstep_server.purchase}, {@code lockstep_server.payment_event}, {@code
 * lockstep_server.payment_mismatch} and {@code lockstep_server.purchase_set_aside}.
 *
 * <p>States: {@code PurchaseStatus}; docs/concepts.md draws every move. Each is a compare-and-set;
 * one that moves stock runs under the hold's lock.
 *
 * <p>Locks: a batch takes the hold block's locks, then purchases, then accounts, the event's key
 * and the draw. The timer marks due purchases with SKIP LOCKED. No lock is held during a call to
 * the provider.
 *
 * <p>Guarantees: goods are sold once, to the buyer who paid for them; a buyer who paid and gets no
 * goods is refunded; while a server runs, nobody else gets a hold whose payment may still succeed.
 */
@NullMarked
package dev.lockstep.server.purchase;

import org.jspecify.annotations.NullMarked;
