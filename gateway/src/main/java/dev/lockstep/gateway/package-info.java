/**
 * The built-in payment gateway: what the server pays with when no Stripe key is configured.
 *
 * <p>It speaks Stripe's HTTP as {@code stripe-java} uses it, on the loopback interface: payment
 * intents, refunds, test cards, idempotency keys, signed webhooks. Nobody is charged. It exists so
 * that the whole sale can be run, tested and broken on purpose without an account: every fault a
 * payment provider shows can be switched on ({@link dev.lockstep.gateway.GatewayFaults}).
 *
 * <p>Tables owned: schema {@code gateway}. Guarantees: an answer is given after its effect is
 * committed; one effect per idempotency key; an intent ends once, as succeeded or as canceled; no
 * more is refunded than was received; a webhook is sent until its receiver answers 2xx, at least
 * once, across restarts. Not promised: the order of webhooks, as with Stripe.
 */
@NullMarked
package dev.lockstep.gateway;

import org.jspecify.annotations.NullMarked;
