/**
 * Shard ownership: which node works on which shard. Used by the blocks that spread work over nodes
 * (jobs, outbox).
 *
 * <p>Entry type: {@link dev.lockstep.shard.Shards}. A block passes a {@link
 * dev.lockstep.shard.ShardListener} and receives one {@link dev.lockstep.shard.Lease} per shard.
 * Reasons: docs/adr/009-shard-ownership.md.
 *
 * <p>Where to read first: {@code Lease} (the fence), then {@code Membership} (one life of a node in
 * a group), {@code ShareBalancer} (heartbeats, balance, hand-over), {@code FairShare} and {@code
 * ShardTable} (SQL).
 *
 * <p>Tables owned: {@code shard_group} (the number of shards), {@code shard_member} (members and
 * their leases), {@code shard} (owner and epoch).
 *
 * <pre>
 *             take                 hand over, release
 *   free ────────────→ owned ──────────────────────────→ free     each arrow raises the epoch
 *                        └── lease passed: another member takes it ──→ owned
 * </pre>
 *
 * <p>Promises: at any moment the database accepts at most one member's writes on a shard, because
 * each write carries the shard's epoch ({@link dev.lockstep.shard.Lease#FENCE}) and every change of
 * owner raises it. When a member stops, its shards are taken over once its lease has passed on the
 * database's clock; nodes' clocks decide nothing. Members own equal shares, give or take one.
 * Between live members a shard moves only when its owner has finished with it.
 *
 * <p>Not promised: that a node which lost its lease knows it already. It may go on working; its
 * writes are refused.
 *
 * <p>Lock order: a fence takes a share lock on the shard's row. A transaction with several fences
 * takes them in shard order. Every other lock on these rows is taken with SKIP LOCKED, or by the
 * owner alone.
 */
@NullMarked
package dev.lockstep.shard;

import org.jspecify.annotations.NullMarked;
