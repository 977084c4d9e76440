/**
 * Runs work in transactions: isolation, timeouts, retry, commits in doubt and advisory locks.
 *
 * <p>Start with {@link dev.lockstep.tx.Transactor}, the entry type: every block of core runs its
 * statements through it. {@link dev.lockstep.tx.TxOptions} lists each timeout and its default. Then
 * read by interest:
 *
 * <ul>
 *   <li>One call: {@code Attempts} runs it, {@code Watchdog} enforces its deadline, {@code
 *       CommitDoubt} settles a connection lost during COMMIT, {@code EarlierAttempts} decides what
 *       may still be reported after that (ADR 007).
 *   <li>A call inside a call: {@code CurrentTransaction} is what it joins.
 *   <li>Faults, which callers catch, are in {@code dev.lockstep.fault}. The statements that blocks
 *       send are in {@code dev.lockstep.sql}.
 * </ul>
 *
 * <p>States: an attempt ends as one {@link dev.lockstep.tx.TxAttempt.TxOutcome}.
 *
 * <p>Owns no table and locks no row; {@link dev.lockstep.tx.AdvisoryLocks} takes what it is asked
 * for. {@link dev.lockstep.sql.LockOrder} is the lock order of all packages.
 *
 * <p>Promises: a retry repeats the whole transaction. After a commit whose outcome is unknown
 * nothing is retried, unless the caller gave a way to find out. Settings are made with {@code SET
 * LOCAL}, so a pooler in transaction mode never carries them to another client.
 */
@NullMarked
package dev.lockstep.tx;

import org.jspecify.annotations.NullMarked;
