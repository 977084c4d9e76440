package dev.lockstep.shard;

import java.util.Optional;

/**
 * Who owns a shard.
 *
 * @param node by the name it gave itself; empty while nobody alive owns the shard
 */
public record ShardOwner(int shard, long epoch, Optional<String> node) {}
