package dev.lockstep.job;

import dev.lockstep.shard.Shards;
import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import dev.lockstep.tx.SqlArray;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * Keeps workers and claimers out of each other's queues.
 *
 * <p>What a worker runs is in its memory, so nobody who claims can know it. A worker therefore
 * writes down which queues it serves before it reads the first job, and whoever claims asks. Both
 * lock the queue's row in {@code job_claim_queue} first: when a worker begins, every claim there is
 * can be seen, and no other comes. Those are jobs that are away, see {@link AwayJobs}.
 */
final class ServedQueues {
  private static final String MAKE_QUEUES =
      """
      INSERT INTO lockstep.job_claim_queue (queue)
      SELECT q FROM unnest(?) AS x (q) ORDER BY q ON CONFLICT (queue) DO NOTHING\
      """;

  private static final String LOCK_QUEUES =
      """
      SELECT 1 FROM lockstep.job_claim_queue WHERE queue = ANY (?) ORDER BY queue FOR UPDATE\
      """;

  private static final String SERVE =
      """
      INSERT INTO lockstep.job_worker_queue (queue, member) SELECT q, ? FROM unnest(?) AS x (q)
      ON CONFLICT (queue, member) DO NOTHING\
      """;

  private static final String SERVERS =
      "SELECT member FROM lockstep.job_worker_queue WHERE queue = ANY (?)";

  private static final String FORGET =
      "DELETE FROM lockstep.job_worker_queue WHERE queue = ANY (?) AND member = ANY (?)";

  private ServedQueues() {}

  /** From the COMMIT on nothing of these queues is claimed, until the member is gone. */
  static void serve(Transactor transactor, UUID member, Collection<String> queues) {
    SqlArray names = SqlArray.texts(List.copyOf(queues));
    TxOptions options = transactor.defaults().withLabel("job queues served").withPointLookups();
    transactor.run(
        options,
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          trip.update(MAKE_QUEUES, names);
          trip.query(LOCK_QUEUES, row -> true, names);
          trip.update(SERVE, member, names);
          trip.send();
          boolean unused = areServed(connection, queues);
        });
  }

  /**
   * Whether a living worker serves one of the queues, whose rows the caller has locked. A worker
   * whose lease has passed is taken for dead, and what it still writes is refused; as long as it is
   * writing a result it serves its queues.
   */
  static boolean areServed(Connection connection, Collection<String> queues) throws SQLException {
    SqlArray names = SqlArray.texts(List.copyOf(queues));
    RoundTrip look = new RoundTrip(connection);
    Rows<UUID> servers = look.query(SERVERS, row -> row.getObject(1, UUID.class), names);
    look.send();
    if (servers.list().isEmpty()) {
      return false;
    }
    Set<UUID> gone = Shards.gone(connection, JobsConfig.GROUP, servers.list());
    if (!gone.isEmpty()) {
      RoundTrip forget = new RoundTrip(connection);
      forget.update(FORGET, names, SqlArray.uuids(List.copyOf(gone)));
      forget.send();
    }
    return !gone.containsAll(servers.list());
  }
}
