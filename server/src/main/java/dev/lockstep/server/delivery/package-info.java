/**
 * Deliveries: jobs that post to somebody's webhook, signed, or send a mail, until it is taken.
 *
 * <p>Table owned: {@code webhook_secret}. Promises: a delivery has one id, the same at every
 * attempt; it is repeated until the receiver takes it or its attempts are used up, and may then
 * have been received more than once; each receiver has a secret of its own to know our deliveries
 * by; one that does not answer holds up no other.
 */
@NullMarked
package dev.lockstep.server.delivery;

import org.jspecify.annotations.NullMarked;
