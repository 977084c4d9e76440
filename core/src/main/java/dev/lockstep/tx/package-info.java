/**
 * Runs work in transactions: isolation, timeouts, retry, commits in doubt and advisory locks.
 *
 * <p>Start with {@link dev.lockstep.tx.Transactor}, the entry type: every other package of core
 * runs its statements through it. {@link dev.lockstep.tx.TxOptions} lists each timeout and its
 * default. Then read by interest:
 *
 * <ul>
 *   <li>Faults: {@link dev.lockstep.fault.LockstepException} and its three subtypes tell the caller
 *       what to do next. {@link dev.lockstep.fault.SqlFault} is the only class that reads SQLSTATE.
 *   <li>One call: {@code Attempts} runs it, {@code Watchdog} enforces its deadline, {@code
 *       CommitDoubt} settles a connection lost during COMMIT (ADR 007).
 *   <li>Few round trips: {@link dev.lockstep.sql.RoundTrip} sends statements together, {@link
 *       dev.lockstep.sql.Exchange} joins them with BEGIN and COMMIT, {@link
 *       dev.lockstep.sql.AttemptResult} says which answers survive a lost attempt.
 * </ul>
 *
 * <p>States: an attempt ends as one {@link dev.lockstep.tx.TxAttempt.Outcome}.
 *
 * <p>Owns no table and locks no row. The lock order of all packages is in CONTRIBUTING.md; {@link
 * dev.lockstep.sql.LockOrder} defines how text keys sort in it.
 *
 * <p>Promises: a retry repeats the whole transaction. After a commit whose outcome is unknown
 * nothing is retried, unless the caller gave a way to find out. Settings are made with {@code SET
 * LOCAL}, so a pooler in transaction mode never carries them to another client.
 */
@NullMarked
package dev.lockstep.tx;

import org.jspecify.annotations.NullMarked;
