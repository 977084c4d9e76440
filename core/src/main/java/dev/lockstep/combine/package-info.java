/**
 * The combiner: many callers' requests, one transaction.
 *
 * <p>Owns {@code batch_mark}. Blocks describe a contended write as a {@link
 * dev.lockstep.combine.Combined} operation (lock, decide, write) and get from {@link
 * dev.lockstep.combine.Combiner} the queue, the writers, retries, isolation of bad requests, and
 * overload control. An operation that remembers what its last batch left asks {@link
 * dev.lockstep.combine.Reliance} whether to go by it. What expires is ended in {@link
 * dev.lockstep.combine.Rounds} by a {@link dev.lockstep.combine.Sweeper}.
 *
 * <p>Promises: every request is answered exactly once, whatever throws; requests of a key are
 * decided in the order they came; one bad request never fails its neighbours.
 */
@NullMarked
package dev.lockstep.combine;

import org.jspecify.annotations.NullMarked;
