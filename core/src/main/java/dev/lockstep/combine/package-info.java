/**
 * Combines many callers' requests into one transaction: the engine under every contended write.
 *
 * <p>Start with {@link dev.lockstep.combine.Combiner}, the entry type, then {@link
 * dev.lockstep.combine.Combined}, which a block implements (lock, decide, write). ADR 001 has the
 * reasons and the numbers. Path of a request:
 *
 * <ul>
 *   <li>{@code Combiner} queues it per key in a {@code KeyQueue}; a writer takes a {@code Batch}.
 *   <li>{@code BatchRunner} runs the batch in one transaction; {@code Halving} splits a failing
 *       batch until the bad request is alone.
 *   <li>{@code Delivery} answers the callers, off the writer's thread.
 * </ul>
 *
 * <p>A block of commands has one {@link dev.lockstep.combine.CommandDoor}: Lockstep commits ({@code
 * submit}, {@code call}) or the caller does ({@code join}). What every block shares is in {@link
 * dev.lockstep.combine.CommandOperation}: replies, {@link dev.lockstep.combine.Companion}s, which
 * answers are final. {@code ProvisionalRetry} decides a command again while expired items may
 * change its answer; {@link dev.lockstep.combine.Sweeper} visits keys in {@link
 * dev.lockstep.combine.Rounds}. An operation that keeps what its last batch wrote asks {@link
 * dev.lockstep.combine.CacheTrust} whether to trust it; {@link dev.lockstep.combine.Timely} guards
 * the time it assumed. {@link dev.lockstep.combine.Slices} runs a long check as many short ones.
 *
 * <p>States of a request: waiting, in a batch, answered. A waiting request can be cancelled.
 *
 * <p>Owns the table {@code batch_mark}. Its rows are locked with SKIP LOCKED, so no batch waits for
 * them. Row locks are the operation's, in {@link dev.lockstep.sql.LockOrder}.
 *
 * <p>Promises: every request is answered exactly once, whatever throws. Requests of a key are
 * decided in arrival order. One bad request never fails its neighbours.
 */
@NullMarked
package dev.lockstep.combine;

import org.jspecify.annotations.NullMarked;
