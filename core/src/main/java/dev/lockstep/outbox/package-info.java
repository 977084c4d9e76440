/**
 * The outbox: events appended in your transaction, delivered per key in commit order after it.
 *
 * <p>Entry type: {@link dev.lockstep.outbox.Outbox}. It appends events, defines streams and sinks,
 * runs operators' actions, and starts a {@link dev.lockstep.outbox.Relay}. You may write a {@link
 * dev.lockstep.outbox.Sink}; a consumer drops repeats with an {@link dev.lockstep.outbox.Inbox}.
 * Users' page: docs/outbox.md. Reasons: docs/adr/017-outbox.md. Words: docs/concepts.md.
 *
 * <p>How an event travels, and where to read about it:
 *
 * <pre>
 *   Outbox.append ─► Appender        locks the key's row, counts it up, inserts the event
 *        │ commit
 *        ▼
 *   RelayLoop, one thread per node: in each turn
 *     RelayReader  ─► SnapshotSource  what this snapshot shows and the cursor's does not
 *     RelaySender  ─► SinkRunner      calls the sink on threads that may block
 *     CursorTable  ─► CursorWrites    writes positions and blocked keys, fenced by the epoch
 * </pre>
 *
 * <p>Read {@code Appender} first, then {@code RelayLoop}, then {@code DeliveryCursor}, which
 * decides what to read, send and write for one sink in one partition. {@code CursorLife} has its
 * states; {@code OwnedPartitions} holds the cursors of a node. Operators' actions are in {@code
 * OperatorActions}, the parts of the event table in {@code Segments}. After a restart of the server
 * {@code Incarnations} tells whether positions in memory are valid, and {@code DumpConversion}
 * converts those that came with a dump.
 *
 * <p>Tables owned: {@code outbox_layout} (partitions, version), {@code outbox_stream}, {@code
 * outbox_sink}, {@code outbox_key} (counters), {@code outbox_event} with its segments and {@code
 * outbox_segment}, {@code outbox_cursor}, {@code outbox_parked} (blocked keys), {@code
 * outbox_order} (counts of operators' actions), {@code outbox_incarnation}, {@code outbox_home},
 * {@code outbox_audit}, {@code outbox_inbox}.
 *
 * <p>States of a key at a sink; a flowing key has no row:
 *
 * <pre>
 *   flowing ──RetryLater──→ waiting ──last attempt──→ parked      Poison: parked at once
 *      ↑                  │                        │
 *      └──── caught up ───┴── retry, skip, replay ─┘
 * </pre>
 *
 * <p>Locks: an append locks outbox keys, sorted, just before jobs ({@link
 * dev.lockstep.sql.LockOrder}). Operators' actions, changes of sinks and the freeing of events lock
 * the layout, then cursors by partition, then blocked keys. A relay's write locks cursors by
 * partition, then blocked keys.
 *
 * <p>Guarantee (G7, docs/guarantees.md): a key's events are delivered in commit order 1, 2, 3 …;
 * first occurrences have no gap. The key's row is locked from append to commit, which makes the
 * sequence dense and equal to commit order. One relay owns a partition at a time ({@code
 * dev.lockstep.shard}), and the epoch fences its progress. An open transaction delays no other
 * transaction's events.
 *
 * <p>An event may be delivered more than once, after a crash or when a relay stops for longer than
 * its lease. It then has the same sequence, and the inbox drops it.
 */
@NullMarked
package dev.lockstep.outbox;

import org.jspecify.annotations.NullMarked;
