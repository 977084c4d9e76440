package dev.lockstep.job;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/** The rows of {@code job_claim_queue}: one per queue that is claimed from, for locking. */
final class ClaimQueues {
  static final int REMOVAL_BATCH = 1_000;

  private static final String MAKE =
      """
      INSERT INTO lockstep.job_claim_queue (queue)
      SELECT q FROM unnest(?) AS x (q) ORDER BY q ON CONFLICT (queue) DO NOTHING\
      """;

  private static final String LOCK =
      """
      SELECT queue FROM lockstep.job_claim_queue WHERE queue = ANY (?) ORDER BY queue FOR UPDATE\
      """;

  // A row is only a lock and the time of the next start. Nothing is lost with one that nobody
  // holds, once its time lies further back than any burst counts.
  private static final String REMOVE_IDLE =
      """
      WITH idle AS MATERIALIZED (
        SELECT q.queue FROM lockstep.job_claim_queue q
        WHERE coalesce(q.next_start, '-infinity') < clock_timestamp() - interval '1 minute'
          AND NOT EXISTS (SELECT 1 FROM lockstep.job_claim c WHERE c.queue = q.queue)
          AND NOT EXISTS (SELECT 1 FROM lockstep.job_worker_queue w WHERE w.queue = q.queue)
        ORDER BY q.queue LIMIT ? FOR UPDATE OF q SKIP LOCKED)
      DELETE FROM lockstep.job_claim_queue q USING idle i WHERE q.queue = i.queue\
      """;

  private ClaimQueues() {}

  /** Locks the rows of these queues until the transaction ends, and makes missing ones. */
  static void lock(Connection connection, Collection<String> queues) throws SQLException {
    Set<String> names = Set.copyOf(queues);
    SqlArray array = SqlArray.texts(List.copyOf(names));
    Rows<String> locked;
    do {
      RoundTrip trip = new RoundTrip(connection);
      trip.update(MAKE, array);
      locked = trip.query(LOCK, row -> row.getString(1), array);
      trip.send();
      // A row found by the first statement may be removed before the second locks it.
    } while (locked.list().size() < names.size());
  }

  /** Removes one batch of rows that nobody needs now; returns how many. */
  static int removeIdle(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Object> rows = trip.update(REMOVE_IDLE, REMOVAL_BATCH);
    trip.send();
    return rows.changed();
  }
}
