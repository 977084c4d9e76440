/**
 * Payments through Stripe, or any service with its HTTP API.
 *
 * <p>Start with {@link dev.lockstep.server.payment.Payments}, to pay, look up, cancel and refund,
 * and {@link dev.lockstep.server.payment.WebhookVerifier}, to verify events. {@code
 * StripeTransport} sends requests without blocking; {@code PaymentHistory} reads the provider's
 * lists.
 *
 * <p>Owns no table and locks nothing. Guarantees: outcomes are values ({@code PaymentResult}); a
 * timeout or a failing provider yields {@code Unknown}, never a guess; a request repeated under its
 * key has no further effect; no event loop is blocked. Amounts are integers in the currency's
 * smallest unit.
 */
@NullMarked
package dev.lockstep.server.payment;

import org.jspecify.annotations.NullMarked;
