/**
 * Purchases: money against goods.
 *
 * <p>Tables owned: {@code lockstep_server.purchase}, {@code lockstep_server.payment_event}, {@code
 * lockstep_server.payment_mismatch}, {@code lockstep_server.purchase_set_aside}. A purchase begins
 * in the transaction that takes its hold, is paid for outside any transaction, and is settled by
 * one function that the provider's answer, its webhook and a timer all reach, in any order and any
 * number of times. Guarantees: goods are sold to who has paid for them, once; who paid and gets
 * none is given the money back; a hold whose payment may still succeed is not given to anybody else
 * while a server runs to see to it. What is promised and what not: {@code docs/purchases.md}.
 */
@NullMarked
package dev.lockstep.server.purchase;

import org.jspecify.annotations.NullMarked;
