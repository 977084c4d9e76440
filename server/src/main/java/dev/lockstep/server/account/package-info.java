/**
 * The ledger over HTTP, and the books of sales.
 *
 * <p>Owns the sequence {@code account_number}. Accounts that clients open share one book. Each
 * campaign has a book of its own for its sales, so that the selling transaction stays in the
 * campaign's shard. A companion writes the answer to a transfer's idempotency key in the
 * transaction that moves the money.
 */
@NullMarked
package dev.lockstep.server.account;

import org.jspecify.annotations.NullMarked;
