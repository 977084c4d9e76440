/**
 * Ownership: which node works on which shard. Shared by the blocks that spread work over nodes.
 *
 * <p>Tables owned: {@code shard_group}, {@code shard_member}, {@code shard}.
 *
 * <p>Promises: at any moment at most one member's writes on a shard are accepted, because each
 * carries the shard's epoch ({@link dev.lockstep.shard.Lease#FENCE}) and every change of owner
 * raises it. A member that stops is followed once its lease has passed on the database's clock; the
 * clocks of nodes decide nothing. Members own equal shares, give or take one, and a shard moves
 * between living members only when its owner has finished with it.
 *
 * <p>Not promised: that a node which lost its lease knows it already. It may go on working; what it
 * writes is refused.
 */
@NullMarked
package dev.lockstep.shard;

import org.jspecify.annotations.NullMarked;
