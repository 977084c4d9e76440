package dev.lockstep.job;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.sql.StorableText;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Writes the results of claimed jobs, in the caller's transaction. Both {@link #end} and {@link
 * ClaimExpiry} lock the claim's row first, then the job's.
 */
final class ClaimResults {
  // The fence: this lease, this claimer, and the job's version when claimed. The locks serialise it
  // with an expiry, an edit and a duplicate of this request; the clock is read after the locks are
  // held.
  private static final String HOLD =
      """
      WITH held AS MATERIALIZED (
        SELECT j.id, j.queue, j.lane, j.unique_key, j.attempts, j.max_attempts, j.version,
               c.expires_at
        FROM lockstep.job_claim c
        JOIN lockstep.job j ON j.shard = c.shard AND j.id = c.id AND j.version = c.version
        WHERE c.shard = ? AND c.id = ? AND c.token = ? AND c.claimer = ?
        FOR UPDATE OF c, j)
      SELECT * FROM held WHERE expires_at > clock_timestamp()\
      """;

  private static final String LOOK =
      """
      SELECT c.queue FROM lockstep.job_claim c
      JOIN lockstep.job j ON j.shard = c.shard AND j.id = c.id AND j.version = c.version
      WHERE c.shard = ? AND c.id = ? AND c.token = ? AND c.claimer = ?
        AND c.expires_at > clock_timestamp()\
      """;

  private static final String EXTEND =
      """
      UPDATE lockstep.job_claim c
      SET expires_at = clock_timestamp()
            + coalesce(nullif(?, 0), c.lease_ms) * interval '1 millisecond'
      FROM lockstep.job j
      WHERE c.shard = ? AND c.id = ? AND c.token = ? AND c.claimer = ?
        AND c.expires_at > clock_timestamp()
        AND j.shard = c.shard AND j.id = c.id AND j.version = c.version
      RETURNING c.expires_at\
      """;

  private static final String END_CLAIM =
      "DELETE FROM lockstep.job_claim WHERE shard = ? AND id = ?";

  // No claimer relies on these claims: it never received them, or already knows that the claim is
  // void.
  private static final String GIVE_BACK =
      """
      DELETE FROM lockstep.job_claim c USING unnest(?, ?, ?) AS x (shard, id, token)
      WHERE c.shard = x.shard AND c.id = x.id AND c.token = x.token
      RETURNING c.queue\
      """;

  private static final String GIVE_BACK_IF_CHANGED =
      """
      DELETE FROM lockstep.job_claim c
      WHERE c.shard = ? AND c.id = ? AND c.token = ? AND c.claimer = ?
        AND NOT EXISTS (
          SELECT 1 FROM lockstep.job j
          WHERE j.shard = c.shard AND j.id = c.id AND j.version = c.version)
      RETURNING c.queue\
      """;

  private static final String DELETE = "DELETE FROM lockstep.job j WHERE j.shard = ? AND j.id = ?";

  private static final String DELETE_TO_HISTORY = History.keep(DELETE);

  private static final String AGAIN =
      """
      UPDATE lockstep.job j
      SET %s
      FROM (SELECT clock_timestamp() + ? * interval '1 millisecond' AS at, ?::int AS failed) x
      WHERE j.shard = ? AND j.id = ?
      RETURNING x.at\
      """
          .formatted(ResultBatch.DUE_AGAIN);

  private final Connection connection;
  private final JobsConfig config;
  private final JobIds ids;

  ClaimResults(Connection connection, JobsConfig config, JobIds ids) {
    this.connection = connection;
    this.config = config;
    this.ids = ids;
  }

  /** A job whose row this transaction has locked, and its claim if it has one. */
  record Held(
      JobId id,
      String queue,
      @Nullable String lane,
      @Nullable String uniqueKey,
      int attempts,
      int maxAttempts,
      int version) {
    static Held read(ResultSet row) throws SQLException {
      return new Held(
          new JobId(row.getObject("id", UUID.class)),
          row.getString("queue"),
          row.getString("lane"),
          row.getString("unique_key"),
          row.getInt("attempts"),
          row.getInt("max_attempts"),
          row.getInt("version"));
    }

    boolean hasItsLastAttempt() {
      return attempts + 1 >= maxAttempts;
    }
  }

  ClaimEnd end(ClaimToken token, String claimer, Outcome outcome) throws SQLException {
    if (outcome instanceof Outcome.Done done && done.effects().isPresent()) {
      // Effects first: the job's row comes last in the lock order.
      done.effects().get().run(connection);
    }
    RoundTrip trip = new RoundTrip(connection);
    Rows<Held> held = trip.query(HOLD, Held::read, key(token, claimer));
    trip.send();
    return held.list().isEmpty() ? new ClaimEnd.Lost() : write(held.list().get(0), outcome);
  }

  private ClaimEnd write(Held job, Outcome outcome) throws SQLException {
    if (outcome instanceof Outcome.Done) {
      return done(job);
    }
    if (outcome instanceof Outcome.Dead dead) {
      return makeDead(job, dead.reason(), 0);
    }
    if (outcome instanceof Outcome.Snooze snooze) {
      return again(job, snooze.after(), Optional.empty());
    }
    if (outcome instanceof Outcome.Retry retry) {
      int attempt = job.attempts() + 1;
      Duration after =
          retry.after().orElseGet(() -> QueueConfig.of(job.queue(), 1).backoffAfter(attempt));
      return attempt >= job.maxAttempts()
          ? makeDead(job, retry.error(), 1)
          : again(job, after, Optional.of(retry.error()));
    }
    throw new IllegalArgumentException(
        "Outcome.Cancel does not apply to a claimed job; call Jobs.cancel");
  }

  private ClaimEnd done(Held job) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    boolean kept = config.historyDays() > 0;
    trip.update(kept ? DELETE_TO_HISTORY : DELETE, key(job));
    if (!kept && job.version() > 1) {
      AttemptTable.forget(trip, job.id());
    }
    endClaim(trip, job, true);
    trip.send();
    return new ClaimEnd.Recorded(JobState.DONE, Optional.empty());
  }

  private ClaimEnd makeDead(Held job, String reason, int failed) throws SQLException {
    String text = StorableText.of(reason, config.maxErrorLength());
    RoundTrip trip = new RoundTrip(connection);
    if (failed > 0) {
      AttemptTable.record(trip, job.id(), text);
    }
    DeadLetters.make(trip, List.of(job.id()), failed, 0, text);
    endClaim(trip, job, true);
    trip.send();
    return new ClaimEnd.Recorded(JobState.DEAD, Optional.empty());
  }

  private ClaimEnd again(Held job, Duration after, Optional<String> error) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Instant> at =
        trip.query(
            AGAIN,
            row -> row.getTimestamp(1).toInstant(),
            after.toMillis(),
            error.isPresent() ? 1 : 0,
            (short) job.id().shard(),
            job.id().value());
    error.ifPresent(
        text ->
            AttemptTable.record(trip, job.id(), StorableText.of(text, config.maxErrorLength())));
    endClaim(trip, job, false);
    trip.send();
    return new ClaimEnd.Recorded(JobState.SCHEDULED, Optional.of(at.list().get(0)));
  }

  /** Ends the claim and wakes claimers and workers that wait for the lane or the job. */
  private void endClaim(RoundTrip trip, Held job, boolean gone) {
    trip.update(END_CLAIM, key(job));
    if (gone) {
      ResultBatch.freeKey(trip, ids, job.id(), job.queue(), job.uniqueKey());
    }
    if (job.lane() != null || !gone) {
      hint(trip, job.queue());
    }
  }

  /**
   * The queue of a job whose claim is live and belongs to the claimer; otherwise empty. Takes no
   * locks.
   */
  Optional<String> look(ClaimToken token, String claimer) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<String> found = trip.query(LOOK, row -> row.getString(1), key(token, claimer));
    trip.send();
    return found.list().stream().findFirst();
  }

  /** Extends a claim. Returns the new end of the lease, or empty if the claim is lost. */
  Optional<Instant> extend(ClaimToken token, String claimer, Optional<Duration> lease)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Instant> until =
        trip.query(
            EXTEND,
            row -> row.getTimestamp(1).toInstant(),
            lease.map(Duration::toMillis).orElse(0L),
            (short) token.job().shard(),
            token.job().value(),
            token.lease(),
            claimer);
    trip.send();
    return until.list().stream().findFirst();
  }

  /** Ends claims that never reached their claimers. Counts no attempt. */
  void giveBack(List<ClaimToken> tokens) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<String> queues =
        trip.query(
            GIVE_BACK,
            row -> row.getString(1),
            SqlArray.smallints(tokens.stream().map(one -> (short) one.job().shard()).toList()),
            SqlArray.uuids(tokens.stream().map(one -> one.job().value()).toList()),
            SqlArray.uuids(tokens.stream().map(ClaimToken::lease).toList()));
    trip.send();
    hintAll(queues);
  }

  /** Ends the claim on a changed job once its claimer knows that the claim is void. */
  void giveBackIfChanged(ClaimToken token, String claimer) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<String> queues =
        trip.query(GIVE_BACK_IF_CHANGED, row -> row.getString(1), key(token, claimer));
    trip.send();
    hintAll(queues);
  }

  private void hintAll(Rows<String> queues) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    queues.list().stream().distinct().forEach(queue -> hint(trip, queue));
    trip.send();
  }

  private void hint(RoundTrip trip, String queue) {
    JobChanges.hint(trip, config, queue);
  }

  private static Object[] key(ClaimToken token, String claimer) {
    return new Object[] {(short) token.job().shard(), token.job().value(), token.lease(), claimer};
  }

  private static Object[] key(Held job) {
    return new Object[] {(short) job.id().shard(), job.id().value()};
  }
}
