/**
 * Payments through Stripe, or through whatever speaks its HTTP.
 *
 * <p>Entry types: {@link dev.lockstep.server.payment.Payments} to pay, look up, cancel and refund;
 * {@link dev.lockstep.server.payment.Webhooks} to tell a genuine event from a forged one. Owns no
 * table. Guarantees: outcomes are values; what a time-out or a failing provider leaves open is
 * {@code Unknown} and never guessed; a request sent again under its key has no further effect; no
 * event loop is blocked. Amounts are integers in the currency's smallest unit, and the currency
 * says what that is.
 */
@NullMarked
package dev.lockstep.server.payment;

import org.jspecify.annotations.NullMarked;
