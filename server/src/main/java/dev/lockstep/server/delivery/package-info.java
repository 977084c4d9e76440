/**
 * Deliveries: jobs that post to a webhook, signed, or send a mail until it is accepted.
 *
 * <p>Owns {@code webhook_secret}. Guarantees: a delivery keeps one id over all attempts; it is
 * repeated until the receiver accepts it or its attempts are used up, so it may arrive more than
 * once; each receiver verifies our deliveries with a secret of its own; a receiver that does not
 * answer delays no other.
 */
@NullMarked
package dev.lockstep.server.delivery;

import org.jspecify.annotations.NullMarked;
