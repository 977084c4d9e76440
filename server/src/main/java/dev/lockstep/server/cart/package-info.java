/**
 * Carts: holds over HTTP.
 *
 * <p>Owns no table. A hold is taken through the combiner; the answer to its idempotency key is
 * written by a companion in the very transaction that decides it, so that both exist or neither
 * does. A hold's public id names its campaign first, so that it leads to the shard without asking.
 */
@NullMarked
package dev.lockstep.server.cart;

import org.jspecify.annotations.NullMarked;
