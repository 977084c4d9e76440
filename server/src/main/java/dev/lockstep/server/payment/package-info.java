/**
 * Payments through Stripe, or any service with its HTTP API.
 *
 * <p>Entry types: {@link dev.lockstep.server.payment.Payments} to pay, look up, cancel and refund;
 * {@link dev.lockstep.server.payment.Webhooks} to verify events. Owns no table. Guarantees:
 * outcomes are values; a timeout or a failing provider yields {@code Unknown}, never a guess; a
 * request repeated under its key has no further effect; no event loop is blocked. Amounts are
 * integers in the currency's smallest unit.
 */
@NullMarked
package dev.lockstep.server.payment;

import org.jspecify.annotations.NullMarked;
