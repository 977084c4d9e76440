/**
 * The outbox: events that are written in a transaction and leave in its commit order, key by key.
 *
 * <p>Tables owned: {@code outbox_layout}, {@code outbox_stream}, {@code outbox_sink}, {@code
 * outbox_key}, {@code outbox_event} with its segments, {@code outbox_segment}, {@code
 * outbox_cursor}, {@code outbox_parked}, {@code outbox_order}, {@code outbox_incarnation}, {@code
 * outbox_home}, {@code outbox_audit}, {@code outbox_inbox}.
 *
 * <p>Guarantee (G7, docs/guarantees.md): a key's events leave in commit order 1, 2, 3 …; first
 * occurrences have no gap. A counter row per key, locked from append to commit, makes the sequence
 * dense and equal to commit order. A relay owns partitions of the keys ({@code
 * dev.lockstep.shard}); what it writes about its progress is fenced by their epochs. It reads what
 * is visible in a snapshot and was not in the one before, so that a transaction left open delays
 * nobody else's events.
 *
 * <p>An event may leave more than once, after a crash or when a relay is stopped for longer than
 * its lease: always with the same sequence number, so that {@link dev.lockstep.outbox.Inbox} drops
 * it.
 */
@NullMarked
package dev.lockstep.outbox;

import org.jspecify.annotations.NullMarked;
