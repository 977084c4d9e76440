/**
 * Carts: holds over HTTP.
 *
 * <p>Start with {@link dev.lockstep.server.cart.Carts}; {@code Checkouts} turns a cart into a
 * purchase, {@link dev.lockstep.server.cart.Outcomes} maps what came of a command to an answer, and
 * {@code CheckoutGuard} vetoes changes of a cart that is being paid for. The states are those of a
 * hold ({@code dev.lockstep.hold}).
 *
 * <p>Owns no table. A hold is taken through the combiner. A companion writes the answer to its
 * idempotency key in the transaction that decides it, so that both exist or neither does. Locks:
 * the hold block's, then the key. A hold's public id names its campaign first, so that it leads to
 * the shard without a query.
 */
@NullMarked
package dev.lockstep.server.cart;

import org.jspecify.annotations.NullMarked;
