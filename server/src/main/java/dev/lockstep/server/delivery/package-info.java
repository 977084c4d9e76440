/**
 * Deliveries: jobs that post to a webhook, signed, or send a mail until it is accepted.
 *
 * <p>Start with {@link dev.lockstep.server.delivery.Deliveries}, the handlers of both kinds; {@code
 * Webhooks} and {@code Mails} send one delivery, {@code Receivers} limits each receiver, {@code
 * ReceiverSecrets} keeps the secrets. The states are those of a job ({@code dev.lockstep.job}).
 *
 * <p>Owns {@code webhook_secret}, whose rows are inserted and never locked by hand. Guarantees: a
 * delivery keeps one id over all attempts; it is repeated until the receiver accepts it or its
 * attempts are used up, so it may arrive more than once; each receiver verifies our deliveries with
 * a secret of its own; a receiver that does not answer delays no other.
 */
@NullMarked
package dev.lockstep.server.delivery;

import org.jspecify.annotations.NullMarked;
