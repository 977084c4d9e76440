/**
 * The invariants of stock and money, over HTTP and every minute as a job: core compares the
 * records, and what differs is paused.
 *
 * <p>Start with {@link dev.lockstep.server.invariant.Invariants}; {@code FullCheck} is the check of
 * everything, in slices, on one node at a time. Owns {@code invariant_report}, one row with the
 * latest report. Reads snapshots; locks nothing but the pool that it pauses.
 */
@NullMarked
package dev.lockstep.server.invariant;

import org.jspecify.annotations.NullMarked;
