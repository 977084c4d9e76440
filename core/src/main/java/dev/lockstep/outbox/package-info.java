/**
 * The outbox: events appended in a transaction and delivered per key in commit order.
 *
 * <p>Entry type: {@link dev.lockstep.outbox.Outbox}, for appending, defining streams and operators'
 * actions. It makes {@link dev.lockstep.outbox.Relay}, which delivers to {@link
 * dev.lockstep.outbox.Sink}s; consumers use {@link dev.lockstep.outbox.Inbox}. Start reading with
 * {@code Appender} (writes), then {@code RelayLoop} and {@code DeliveryCursor} (delivery), {@code
 * SnapshotSource} (reads). Users' page: docs/outbox.md; reasons: docs/adr/017-outbox.md.
 *
 * <p>Tables owned: {@code outbox_layout}, {@code outbox_stream}, {@code outbox_sink}, {@code
 * outbox_key}, {@code outbox_event} with its segments, {@code outbox_segment}, {@code
 * outbox_cursor}, {@code outbox_parked}, {@code outbox_order}, {@code outbox_incarnation}, {@code
 * outbox_home}, {@code outbox_audit}, {@code outbox_inbox}.
 *
 * <p>States of a key at a sink:
 *
 * <pre>
 *   flowing ──Retry──→ waiting ──last attempt──→ parked      Poison: parked at once
 *      ↑                  │                        │
 *      └──── delivered ───┴── retry, skip, replay ─┘
 * </pre>
 *
 * <p>Guarantee (G7, docs/guarantees.md): a key's events are delivered in commit order 1, 2, 3 …;
 * first occurrences have no gap. A counter row per key, locked from append to commit, makes the
 * sequence dense and equal to commit order. A relay owns partitions of the keys ({@code
 * dev.lockstep.shard}); their epochs fence its progress. It reads events that are visible in the
 * current snapshot but not in the previous one, so an open transaction delays no other
 * transaction's events.
 *
 * <p>An event may be delivered more than once, after a crash or when a relay stops for longer than
 * its lease. It then has the same sequence number, and {@link dev.lockstep.outbox.Inbox} drops it.
 *
 * <p>Locks: an outbox key comes just before jobs in the order of CONTRIBUTING.md. Operators'
 * actions lock the layout, then cursors by partition, then parked keys.
 */
@NullMarked
package dev.lockstep.outbox;

import org.jspecify.annotations.NullMarked;
