/**
 * The built-in payment gateway: what the server pays with when no Stripe key is configured. It does
 * not depend on the server.
 *
 * <p>It speaks Stripe's HTTP as {@code stripe-java} uses it, on the loopback interface: payment
 * intents, refunds, test cards, idempotency keys, signed webhooks. Nobody is charged. It exists so
 * that the whole sale can be run, tested and broken on purpose without an account: typical faults
 * of a payment provider can be switched on ({@link dev.lockstep.gateway.GatewayFaults}).
 *
 * <p>Start reading at {@link dev.lockstep.gateway.Gateway}. A request goes through {@code
 * GatewayRoutes} (HTTP and faults) to {@code Bookkeeper}, which combines requests into batches;
 * {@code BooksOperation} has the SQL of a batch, {@code Decision} the rules, a pure function;
 * {@code WebhookDelivery} sends the events.
 *
 * <p>Tables owned: schema {@code gateway}, created by the migrations in {@code db/gateway}, which
 * share their numbering with the server's. A batch locks its intents in the order of their ids;
 * refunds change only under that lock. Guarantees: an answer is given after its effect is
 * committed; one effect per idempotency key; an intent ends once, as succeeded or as canceled; no
 * more is refunded than was received; a webhook is sent until its receiver answers 2xx or its
 * attempts are used up, across restarts. Not promised: the order of webhooks, as with Stripe.
 */
@NullMarked
package dev.lockstep.gateway;

import org.jspecify.annotations.NullMarked;
