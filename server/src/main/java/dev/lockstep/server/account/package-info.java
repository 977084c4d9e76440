/**
 * The ledger over HTTP, and the books of sales.
 *
 * <p>Owns the sequence {@code account_number}. Accounts that clients open are in one book; each
 * campaign has a book of its own, in which its sales are posted, so that the transaction that sells
 * stays in the campaign's shard. The answer to a transfer's idempotency key is written by a
 * companion in the very transaction that moves the money.
 */
@NullMarked
package dev.lockstep.server.account;

import org.jspecify.annotations.NullMarked;
