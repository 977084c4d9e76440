package dev.lockstep.job;

import dev.lockstep.shard.Shards;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
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
 * <p>A worker's running jobs are only in its memory, so a claimer cannot see them. A worker
 * therefore registers the queues it serves before it reads its first job, and every claim checks.
 * Both lock the queue's row in {@code job_claim_queue} first. So a worker that starts sees every
 * existing claim, and no new one appears. Those claimed jobs are stragglers, see {@link
 * StragglerWatch}.
 */
final class ServedQueues {
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

  /**
   * Registers a member. After the commit no job of these queues is claimed until the member is
   * dead.
   */
  static void serve(Transactor transactor, UUID member, Collection<String> queues) {
    SqlArray names = SqlArray.texts(List.copyOf(queues));
    TxOptions options = transactor.defaults().withLabel("job queues served").withIndexLookups();
    transactor.run(
        options,
        connection -> {
          ClaimQueues.lock(connection, queues);
          RoundTrip trip = new RoundTrip(connection);
          trip.update(SERVE, member, names);
          trip.send();
          boolean unused = areServed(connection, queues);
        });
  }

  /**
   * Whether a live worker serves one of the queues. The caller has locked the queues' rows. A
   * worker whose lease has passed counts as dead and its writes are refused, except that a worker
   * in the middle of writing a result still counts as alive.
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
