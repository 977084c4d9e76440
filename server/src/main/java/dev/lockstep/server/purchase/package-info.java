/**
 * Purchases: money against goods.
 *
 * <p>Owns {@code lockstep_server.purchase}, {@code lockstep_server.payment_event}, {@code
 * lockstep_server.payment_mismatch} and {@code lockstep_server.purchase_set_aside}. A purchase
 * begins in the transaction that takes its hold, and is paid for outside any transaction. The
 * provider's answer, its webhook and a timer settle it through one function, in any order and any
 * number of times. Guarantees: goods are sold once, to the buyer who paid for them; a buyer who
 * paid and gets no goods is refunded; while a server runs, nobody else gets a hold whose payment
 * may still succeed. {@code docs/purchases.md} has the details. Read {@link
 * dev.lockstep.server.purchase.Saga} first.
 */
@NullMarked
package dev.lockstep.server.purchase;

import org.jspecify.annotations.NullMarked;
