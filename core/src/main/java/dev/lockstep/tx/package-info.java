/**
 * Transactions: isolation, timeouts, retry, advisory locks and the one place that reads SQLSTATE.
 *
 * <p>Owns no table. Everything else in core runs its statements through {@link
 * dev.lockstep.tx.Transactor}.
 *
 * <p>Promises: a retried transaction is retried whole; nothing is retried after a COMMIT whose
 * outcome is not known, unless the caller gave a way to find out; settings are made with {@code SET
 * LOCAL}, so a pooler in transaction mode never carries them to somebody else.
 */
@NullMarked
package dev.lockstep.tx;

import org.jspecify.annotations.NullMarked;
