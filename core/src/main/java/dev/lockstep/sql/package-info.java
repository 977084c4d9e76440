/**
 * Statements as Lockstep's own blocks send them. Not exported: users of Lockstep meet none of it.
 *
 * <p>Start with {@link dev.lockstep.sql.RoundTrip}, the entry type: several statements sent and
 * answered together. Then read by interest:
 *
 * <ul>
 *   <li>Few round trips: {@link dev.lockstep.sql.Exchange} joins round trips with BEGIN and COMMIT.
 *       {@link dev.lockstep.sql.AttemptResult} says which answers survive a lost attempt, {@link
 *       dev.lockstep.sql.CallResult} what the caller is told. {@link dev.lockstep.sql.ClosingWork}
 *       writes just before COMMIT.
 *   <li>Parameters and columns: {@link dev.lockstep.sql.SqlArray} carries a batch, {@link
 *       dev.lockstep.sql.StoredEnum} names stored numbers, {@link dev.lockstep.sql.Ctid} addresses
 *       a row, {@link dev.lockstep.sql.StorableText} and {@link dev.lockstep.sql.DerivedId} check
 *       and encode names, {@link dev.lockstep.sql.Sha256} hashes them.
 *   <li>Plans: {@link dev.lockstep.sql.IndexLookups} keeps a batch on its indexes, {@link
 *       dev.lockstep.sql.BoundedRows} cuts a page off before it fills the memory.
 *   <li>Beyond JDBC: {@link dev.lockstep.sql.PgDriver} has COPY and binary arrays, {@link
 *       dev.lockstep.sql.HintListener} notifications.
 * </ul>
 *
 * <p>Who commits: nothing here. Every class works inside a transaction that the transactor or the
 * caller ends.
 *
 * <p>Owns no table and locks no row. {@link dev.lockstep.sql.LockOrder} is the lock order of all
 * packages, and defines how text keys sort in it.
 *
 * <p>Depends on {@code fault} and {@code work}.
 */
@NullMarked
package dev.lockstep.sql;

import org.jspecify.annotations.NullMarked;
