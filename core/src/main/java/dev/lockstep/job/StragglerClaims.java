package dev.lockstep.job;

import dev.lockstep.shard.Lease;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.util.Collection;
import java.util.List;
import java.util.UUID;

/**
 * Tracks claims on jobs of queues that a worker has begun to serve. {@link ServedQueues} prevents
 * new claims; the existing ones end with their results or their leases. Thread-safe.
 */
final class StragglerClaims {
  private static final String READ =
      """
      SELECT c.id, c.queue, c.priority, c.lane, c.token AS member
      FROM unnest(?) AS x (shard) JOIN lockstep.job_claim c ON c.shard = x.shard
      WHERE c.queue = ANY (?)\
      """;

  private final Transactor transactor;
  private final TxOptions options;
  private final JobIds ids;
  private final List<String> queues;

  /**
   * @param queues the queues this worker serves; claims on other queues are ignored
   */
  StragglerClaims(Transactor transactor, JobIds ids, List<String> queues) {
    this.transactor = transactor;
    this.options = transactor.defaults().withLabel("jobs claimed").withIndexLookups();
    this.ids = ids;
    this.queues = queues;
  }

  /** Blocks new claims on the queues while this member lives. */
  void serve(UUID member) {
    ServedQueues.serve(transactor, member, queues);
  }

  /**
   * Reads the claims on these shards. An expired claim stays listed until its attempt is counted.
   */
  List<Straggler> read(Collection<Lease> leases) {
    return Straggler.list(transactor, options, READ, leases, SqlArray.texts(queues));
  }

  /**
   * Counts an attempt for each expired claim. {@link Claims#claim} would do this, but it no longer
   * runs for a served queue.
   */
  void expire() {
    for (String queue : queues) {
      transactor.run(options, connection -> new ClaimExpiry(connection, ids).expireSome(queue));
    }
  }
}
