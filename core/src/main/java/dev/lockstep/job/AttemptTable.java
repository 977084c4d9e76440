package dev.lockstep.job;

import dev.lockstep.sql.RoundTrip;

/** Records failed attempts of live and dead jobs, and of done jobs while history is kept. */
final class AttemptTable {
  // Numbering continues after a replay, although the job's own attempt count restarts. Only the
  // transaction that holds the job's row records one. Numbers stop at 32767; later attempts are not
  // kept.
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

  /** Adds the insert of one failed attempt. */
  static void record(RoundTrip trip, JobId id, String error) {
    trip.update(RECORD, (short) id.shard(), id.value(), error);
  }

  /** Adds the delete of all attempts of a job. */
  static void forget(RoundTrip trip, JobId id) {
    trip.update(FORGET, (short) id.shard(), id.value());
  }
}
