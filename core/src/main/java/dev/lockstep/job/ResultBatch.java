package dev.lockstep.job;

import dev.lockstep.shard.Lease;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.sql.StorableText;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Writes results in the caller's transaction. Every statement is fenced by the version the job had
 * when it was read, and by the shard's epoch or, for a job whose shard was handed over while it
 * ran, by this node's mark ({@link ResultFence}). A node that declares another dead changes both
 * before the job runs again. A row missing from the answer means that the result is refused: the
 * job was changed, or another node runs it.
 */
final class ResultBatch {
  // Locks only rows this node owns, so only edits of the same jobs can wait.
  private static final String DELETE =
      """
      DELETE FROM lockstep.job j USING unnest(?, ?) AS x (id, version)
      WHERE j.shard = ? AND j.id = x.id AND j.version = x.version AND %s
      RETURNING j.id""";

  // The usual end of a job. Finds rows by their last known place, page by page, without an index
  // descent. Anything but an exact match of the returned ids (a row has moved, or another has taken
  // its place) is rolled back. The id bounds keep a generic plan, made while the table was small,
  // from reading the whole shard.
  private static final String DELETE_BY_PLACE =
      """
      DELETE FROM lockstep.job j
      WHERE j.ctid = ANY (?) AND j.shard = ? AND j.id BETWEEN ? AND ? AND j.version = ? AND %s
      RETURNING j.id""";

  private static final String DELETE_TO_HISTORY =
      History.keep(
              """
          DELETE FROM lockstep.job j USING unnest(?, ?) AS x (id, version)
          WHERE j.shard = ? AND j.id = x.id AND j.version = x.version AND %s""")
          + " RETURNING id";

  private static final String DELETE_TO_DEAD =
      DeadLetters.make(
              """
          DELETE FROM lockstep.job j
          WHERE j.shard = ? AND j.id = ? AND j.version = ? AND %s""")
          + " RETURNING id";

  // In an ordered lane (limit 1) the job keeps its place; only wait_until changes.
  static final String DUE_AGAIN =
      """
      due = CASE WHEN j.lane_limit = 1 THEN j.due ELSE x.at END,
          wait_until = CASE WHEN j.lane_limit = 1 THEN x.at END,
          planned = coalesce(j.planned, j.due),
          attempts = j.attempts + x.failed, version = j.version + 1\
      """;

  private static final String AGAIN =
      """
      UPDATE lockstep.job j
      SET keeper = NULL, %s
      FROM (SELECT now() + ?::bigint * interval '1 millisecond' AS at, ?::int AS failed) x
      WHERE j.shard = ? AND j.id = ? AND j.version = ? AND %%s
      RETURNING j.id"""
          .formatted(DUE_AGAIN);

  private static final String FREE_KEY =
      """
      DELETE FROM lockstep.job_unique
      WHERE shard = ? AND queue = ? AND unique_key = ? AND id = ? AND expires_at IS NULL""";

  // Locks the job before the effects' own locks, against the lock order. Used only to run effects
  // again that seem to change their own job, where contention is rare.
  private static final String LOCK =
      """
      SELECT j.id FROM lockstep.job j
      WHERE j.shard = ? AND j.id = ? AND j.version = ? AND %s
      FOR UPDATE OF j""";

  private final Connection connection;
  private final JobsConfig config;
  private final JobIds ids;
  private @Nullable Duration longestWait;

  ResultBatch(Connection connection, JobsConfig config, JobIds ids) {
    this.connection = connection;
    this.config = config;
    this.ids = ids;
  }

  /** Limits lock waits from the first write on. */
  ResultBatch waitingAtMost(Duration longest) {
    longestWait = longest;
    return this;
  }

  /**
   * Locks a job until the transaction ends, if it is unchanged and still this node's to end.
   *
   * @return false if it is not
   */
  boolean lock(ResultFence fence, JobRow row) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<JobId> locked =
        trip.query(
            fence.in(LOCK),
            JobId::read,
            fence.bind(fence.shard(), row.id().value(), row.version()));
    trip.send();
    return !locked.list().isEmpty();
  }

  /**
   * Writes results of any number of shards in one round trip. The fences' share locks are taken in
   * the order of the map, which must be shard order.
   *
   * @param each false: delete done jobs all or none, which is cheaper
   * @throws RowsMoved if some rows were not where they were; roll back and write each
   */
  Written write(Map<ResultFence, List<JobResult>> results, boolean each) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    RowTally tally = new RowTally();
    results.keySet().stream().findFirst().ifPresent(fence -> fence.lease().bound(trip));
    if (longestWait != null) {
      trip.update("SET LOCAL lock_timeout = " + longestWait.toMillis());
    }
    results.forEach((fence, some) -> add(trip, fence, some, each, tally));
    trip.send();
    if (!tally.isExact()) {
      throw new RowsMoved();
    }
    return followUp(results, tally.refused());
  }

  /**
   * The outcome of writing results.
   *
   * @param refused the jobs whose results were refused; read them again
   * @param lost leases found to be over, whatever this node believes
   */
  record Written(Set<JobId> refused, Set<Lease> lost) {}

  /** The bulk delete did not match exactly: some rows have moved. Rolls it back. */
  static final class RowsMoved extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RowsMoved() {
      super("rows have moved", null, false, false);
    }
  }

  private void add(
      RoundTrip trip, ResultFence fence, List<JobResult> ended, boolean each, RowTally tally) {
    addDeletes(trip, fence, ended, each, tally);
    for (JobResult one : ended) {
      if (one.againMs() >= 0) {
        tally.expectSome(again(trip, fence, one), List.of(one.row()));
      } else if (one.reasonOfDeath().isPresent()) {
        tally.expectSome(dead(trip, fence, one, one.reasonOfDeath().get()), List.of(one.row()));
      }
    }
  }

  private void addDeletes(
      RoundTrip trip, ResultFence fence, List<JobResult> ended, boolean each, RowTally tally) {
    boolean history = config.historyDays() > 0;
    Map<Integer, List<JobRow>> inPlace = new HashMap<>();
    List<JobRow> done = new ArrayList<>();
    List<JobRow> cancelled = new ArrayList<>();
    for (JobResult one : ended) {
      if (one.outcome() instanceof Outcome.Done) {
        // Marking a job moves its row.
        boolean moved = fence.byMark() || one.task().mayBeMarked();
        (history || each || moved
                ? done
                : inPlace.computeIfAbsent(one.row().version(), version -> new ArrayList<>()))
            .add(one.row());
      } else if (one.outcome() instanceof Outcome.Cancel) {
        cancelled.add(one.row());
      }
    }
    inPlace.forEach(
        (version, rows) -> tally.expectAll(deleteByPlace(trip, fence, version, rows), rows));
    if (!done.isEmpty()) {
      tally.expectSome(delete(trip, fence, history ? DELETE_TO_HISTORY : DELETE, done), done);
    }
    if (!cancelled.isEmpty()) {
      tally.expectSome(delete(trip, fence, DELETE, cancelled), cancelled);
    }
  }

  private static Rows<JobId> deleteByPlace(
      RoundTrip trip, ResultFence fence, int version, List<JobRow> rows) {
    JobId first = rows.get(0).id();
    JobId last = first;
    for (JobRow row : rows) {
      first = row.id().compareTo(first) < 0 ? row.id() : first;
      last = row.id().compareTo(last) > 0 ? row.id() : last;
    }
    return trip.query(
        fence.in(DELETE_BY_PLACE),
        JobId::read,
        fence.bind(
            SqlArray.ctids(rows.stream().map(JobRow::place).toList()),
            fence.shard(),
            first.value(),
            last.value(),
            version));
  }

  private static Rows<JobId> delete(
      RoundTrip trip, ResultFence fence, String statement, List<JobRow> rows) {
    return trip.query(
        fence.in(statement), JobId::read, fence.bind(uuids(rows), versions(rows), fence.shard()));
  }

  private static Rows<JobId> again(RoundTrip trip, ResultFence fence, JobResult one) {
    int failed = one.outcome() instanceof Outcome.Retry ? 1 : 0;
    return trip.query(
        fence.in(AGAIN),
        JobId::read,
        fence.bind(
            one.againMs(), failed, fence.shard(), one.row().id().value(), one.row().version()));
  }

  private Rows<JobId> dead(RoundTrip trip, ResultFence fence, JobResult one, String reason) {
    Object[] fenced = fence.bind(fence.shard(), one.row().id().value(), one.row().version());
    int failed = one.outcome() instanceof Outcome.Retry ? 1 : 0;
    String text = StorableText.of(reason, config.maxErrorLength());
    return trip.query(
        fence.in(DELETE_TO_DEAD), JobId::read, DeadLetters.bind(fenced, failed, 0, text));
  }

  /** Writes what few jobs need: attempts, unique keys, marks, straggler records. */
  private Written followUp(Map<ResultFence, List<JobResult>> results, Set<JobId> refused)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Map<Lease, Rows<Boolean>> held = new HashMap<>();
    results.forEach(
        (fence, some) -> {
          for (JobResult one : some) {
            if (fence.byMark()) {
              StragglerTable.remove(trip, one.task());
            }
            if (refused.isEmpty() || !refused.contains(one.row().id())) {
              followUp(trip, one);
            } else {
              clearMark(trip, fence, one);
              if (!fence.byMark()) {
                held.computeIfAbsent(fence.lease(), lease -> lease.askIfHeld(trip));
              }
            }
          }
        });
    trip.send();
    Set<Lease> lost = new HashSet<>();
    held.forEach(
        (lease, rows) -> {
          if (rows.list().isEmpty()) {
            lost.add(lease);
          }
        });
    return new Written(refused, lost);
  }

  private static void clearMark(RoundTrip trip, ResultFence fence, JobResult one) {
    if (fence.byMark() || one.task().mayBeMarked()) {
      RowMarks.clear(trip, one.task());
    }
  }

  private void followUp(RoundTrip trip, JobResult one) {
    JobRow row = one.row();
    if (one.outcome() instanceof Outcome.Retry retry) {
      AttemptTable.record(trip, row.id(), StorableText.of(retry.error(), config.maxErrorLength()));
    } else if (row.version() > 1 && !isRemembered(one)) {
      // A job that failed, or was replayed after failing, has a version above 1.
      AttemptTable.forget(trip, row.id());
    }
    if (one.againMs() < 0) {
      freeKey(trip, ids, row);
    }
  }

  /** Whether the job, with its attempts, can still be looked up. */
  private boolean isRemembered(JobResult one) {
    return one.againMs() >= 0
        || one.reasonOfDeath().isPresent()
        || (one.outcome() instanceof Outcome.Done && config.historyDays() > 0);
  }

  /** Adds the release of an ended job's unique key, if it has one. */
  static void freeKey(RoundTrip trip, JobIds ids, JobRow row) {
    freeKey(trip, ids, row.id(), row.queue(), row.uniqueKey());
  }

  static void freeKey(
      RoundTrip trip, JobIds ids, JobId id, String queue, @Nullable String uniqueKey) {
    if (uniqueKey != null) {
      trip.update(FREE_KEY, (short) ids.shardOf(queue, uniqueKey), queue, uniqueKey, id.value());
    }
  }

  private static SqlArray uuids(List<JobRow> rows) {
    return SqlArray.uuids(rows.stream().map(row -> row.id().value()).toList());
  }

  private static SqlArray versions(List<JobRow> rows) {
    return SqlArray.integers(rows.stream().map(JobRow::version).toList());
  }
}
