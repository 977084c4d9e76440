package dev.lockstep.job;

import dev.lockstep.tx.RoundTrip;

/**
 * Attempts that failed, of live and dead jobs and, while history is kept, of jobs that are done.
 */
final class AttemptTable {
  // Numbered on from those before the job was last brought back, after which its own count begins
  // again. Only the holder of the job's row records one. Past the greatest number none is kept.
  private static final String RECORD =
      """
      INSERT INTO lockstep.job_attempt (shard, id, attempt, at, error)
      SELECT x.shard, x.id,
             least(32767, 1 + coalesce(
               (SELECT max(a.attempt) FROM lockstep.job_attempt a
                WHERE a.shard = x.shard AND a.id = x.id), 0)),
             now(), x.error
      FROM (SELECT ?::smallint AS shard, ?::uuid AS id, ?::text AS error) x
      ON CONFLICT DO NOTHING""";

  private static final String FORGET =
      "DELETE FROM lockstep.job_attempt WHERE shard = ? AND id = ?";

  private AttemptTable() {}

  /** Adds an attempt to record. */
  static void record(RoundTrip trip, JobId id, String error) {
    trip.update(RECORD, (short) id.shard(), id.value(), error);
  }

  /** Adds what forgets all attempts of a job. */
  static void forget(RoundTrip trip, JobId id) {
    trip.update(FORGET, (short) id.shard(), id.value());
  }
}
