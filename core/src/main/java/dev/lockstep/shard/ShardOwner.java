package dev.lockstep.shard;

import java.util.Optional;

/**
 * The owner of a shard.
 *
 * @param node the name it gave itself; empty while no live node owns the shard
 */
public record ShardOwner(int shard, long epoch, Optional<String> node) {}
