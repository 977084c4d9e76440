package dev.lockstep.shard;

import java.util.concurrent.CompletionStage;

/**
 * What a block does about shards that come and go. Called by one thread, one call at a time, which
 * is not the one that sends heartbeats; for one lease {@code taken} comes first, and nothing comes
 * after {@code lost}.
 */
public interface ShardListener {

  /**
   * The shard is this node's.
   *
   * <p>If it throws it is called again with the next heartbeat, for as long as the lease holds.
   */
  void taken(Lease lease);

  /**
   * Somebody else shall have the shard: begin nothing more, finish or put back what was begun.
   *
   * @return ends when nothing more will be written under the lease, which is then given up; when it
   *     fails the shard is kept, and asked for again with the next heartbeat
   */
  CompletionStage<?> handOver(Lease lease);

  /**
   * The shard is or may be somebody else's: nothing that is still written under the lease will be
   * accepted. Not called for a lease that was handed over.
   */
  void lost(Lease lease);
}
