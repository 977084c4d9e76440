package dev.lockstep.shard;

import java.util.concurrent.CompletionStage;

/**
 * Reacts to shards that come and go. One thread makes all calls, one at a time; it is not the
 * heartbeat thread. For one lease {@code taken} comes first, and nothing comes after {@code lost}.
 */
public interface ShardListener {

  /**
   * This node owns the shard now.
   *
   * <p>If it throws, it is called again with the next heartbeat while the lease holds.
   */
  void taken(Lease lease);

  /**
   * Another node should get the shard: begin nothing more, finish or put back what was begun.
   *
   * @return completes when nothing more will be written under the lease, which is then given up. If
   *     it fails, the node keeps the shard and is asked again with the next heartbeat
   */
  CompletionStage<?> handOver(Lease lease);

  /**
   * Another node owns the shard, or may: writes under the lease are no longer accepted. Not called
   * for a lease that was handed over.
   */
  void lost(Lease lease);
}
