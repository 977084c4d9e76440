/**
 * The ledger over HTTP, and the books of sales.
 *
 * <p>Start with {@link dev.lockstep.server.account.Accounts} (accounts and statements) and {@code
 * Transfers} (moves, with a companion that also writes the answer to the idempotency key). {@link
 * dev.lockstep.server.account.SaleBooks} posts what buyers paid and got back, in the transaction
 * that settles their purchase. The tables are the ledger's ({@code dev.lockstep.ledger}), with its
 * states and guarantees.
 *
 * <p>Owns the sequence {@code account_number}, no table. Accounts that clients open share one book.
 * Each campaign has a book of its own for its sales, so that the selling transaction stays in the
 * campaign's shard. Locks: accounts, after the stock of a sale and before its event ({@code
 * dev.lockstep.sql.LockOrder}).
 */
@NullMarked
package dev.lockstep.server.account;

import org.jspecify.annotations.NullMarked;
