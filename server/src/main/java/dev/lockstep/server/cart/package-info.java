/**
 * Carts: holds over HTTP.
 *
 * <p>Start with {@link dev.lockstep.server.cart.Carts}; {@code Checkouts} tells which carts are
 * being paid for, {@link dev.lockstep.server.cart.Outcomes} maps outcomes to answers, and {@code
 * CheckoutGuard} vetoes changes of a cart that is being paid for. The states are those of a hold
 * ({@code dev.lockstep.hold}).
 *
 * <p>Owns no table. A hold is taken through the combiner. A companion writes the answer to its
 * idempotency key in the transaction that decides it, so that both exist or neither does. Locks:
 * the hold block's, then the key; an extension with a key locks the key first. A hold's public id
 * names its campaign first, so that it leads to the shard without a query.
 */
@NullMarked
package dev.lockstep.server.cart;

import org.jspecify.annotations.NullMarked;
