package dev.lockstep.job;

import dev.lockstep.job.ClaimResults.Held;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Ends expired claims in the caller's transaction: counts an attempt for each job; jobs without
 * attempts left become dead letters.
 *
 * <p>Waits for no lock. It skips a claim that another transaction is ending, and leaves a claim in
 * place while its job is locked. Until it is ended, an expired claim's token is void and its lane
 * waits.
 */
final class ClaimExpiry {
  static final String UNANSWERED = "The claim's lease ended before its claimer reported a result";
  static final int BATCH = 500;

  private static final String EXPIRED =
      """
      SELECT c.id, c.version FROM lockstep.job_claim c
      WHERE c.expires_at <= statement_timestamp() AND (c.shard, c.id) > (?, ?)%s
      ORDER BY c.shard, c.id LIMIT ? FOR UPDATE SKIP LOCKED\
      """;

  private static final String JOBS =
      """
      SELECT j.id, j.queue, j.lane, j.unique_key, j.attempts, j.max_attempts, j.version
      FROM unnest(?, ?) AS x (shard, id)
      JOIN lockstep.job j ON j.shard = x.shard AND j.id = x.id\
      """;
  private static final String FREE_JOBS = JOBS + " FOR UPDATE OF j SKIP LOCKED";

  private static final String END_CLAIMS =
      """
      DELETE FROM lockstep.job_claim c USING unnest(?, ?) AS x (shard, id)
      WHERE c.shard = x.shard AND c.id = x.id\
      """;

  private final Connection connection;
  private final JobIds ids;

  ClaimExpiry(Connection connection, JobIds ids) {
    this.connection = connection;
    this.ids = ids;
  }

  /** Ends one batch of a queue's expired claims, past those that must stay. */
  void expireSome(String queue) throws SQLException {
    Batch batch;
    Optional<JobId> after = Optional.empty();
    do {
      batch = expire(Optional.of(queue), after);
      after = batch.next();
    } while (batch.ended() == 0 && after.isPresent());
  }

  /**
   * What a batch did.
   *
   * @param ended how many claims were ended
   * @param next where the next batch begins; empty: there are no more
   */
  record Batch(int ended, Optional<JobId> next) {}

  /**
   * Ends one batch of expired claims, except those whose jobs are locked. So that they do not hold
   * up the claims behind them, continue with {@link Batch#next}.
   *
   * @param queue empty: of all queues
   * @param after empty: from the first
   */
  Batch expire(Optional<String> queue, Optional<JobId> after) throws SQLException {
    RoundTrip look = new RoundTrip(connection);
    Map<JobId, Integer> versions = new HashMap<>();
    List<Object> parameters = new ArrayList<>();
    parameters.add((short) (int) after.map(JobId::shard).orElse(-1));
    parameters.add(after.map(JobId::value).orElse(new UUID(0, 0)));
    parameters.addAll(queue.stream().toList());
    parameters.add(BATCH);
    Rows<JobId> claims =
        look.query(
            EXPIRED.formatted(queue.isPresent() ? " AND c.queue = ?" : ""),
            row -> {
              JobId id = JobId.read(row);
              versions.put(id, row.getInt(2));
              return id;
            },
            parameters.toArray());
    look.send();
    List<JobId> found = claims.list();
    return new Batch(
        found.isEmpty() ? 0 : expire(versions),
        found.size() < BATCH ? Optional.empty() : Optional.of(found.get(BATCH - 1)));
  }

  private int expire(Map<JobId, Integer> versions) throws SQLException {
    List<JobId> over = new ArrayList<>(versions.keySet());
    RoundTrip look = new RoundTrip(connection);
    Rows<JobId> there = look.query(JOBS, JobId::read, JobId.arrays(over));
    Rows<Held> free = look.query(FREE_JOBS, Held::read, JobId.arrays(over));
    look.send();
    Set<JobId> locked = new HashSet<>(there.list());
    // A job changed since it was claimed loses its claim but keeps its attempt count.
    List<Held> jobs = new ArrayList<>();
    for (Held job : free.list()) {
      locked.remove(job.id());
      if (Objects.equals(versions.get(job.id()), job.version())) {
        jobs.add(job);
      }
    }
    UnreportedJobs unreported = new UnreportedJobs(connection, ids, false, UNANSWERED);
    locked.addAll(unreported.locked(jobs));
    over.removeAll(locked);
    jobs.removeIf(job -> locked.contains(job.id()));
    RoundTrip write = new RoundTrip(connection);
    write.update(END_CLAIMS, JobId.arrays(over));
    unreported.count(write, jobs);
    write.send();
    return over.size();
  }
}
