package dev.lockstep.job;

import dev.lockstep.job.JobStream.LaneRead;
import dev.lockstep.job.JobStream.StreamRead;
import dev.lockstep.job.RowCheck.RowState;
import dev.lockstep.shard.Lease;
import dev.lockstep.sql.Listening;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Reads due jobs, the next due time and the queues' settings for a shard owner. */
final class JobReads {
  // Uses the index job_due, which hashes queue and priority; the exact comparison guards against
  // collisions.
  private static final String OF_STREAM =
      """
      hashtextextended(queue, priority) = hashtextextended(x.queue, x.priority)
      AND queue = x.queue AND priority = x.priority""";

  // One index range per stream. Locks and writes nothing: only a shard's owner reads it, so no
  // other node gets the same jobs. Sorted in Java, where the rows arrive nearly in order; a sort on
  // the server costs a tenth of the whole read.
  private static final String DUE =
      """
      SELECT x.n, %s
      FROM unnest(?, ?, ?, ?, ?, ?, ?)
        AS x (n, shard, queue, priority, after_due, after_id, wanted)
      CROSS JOIN LATERAL (
        SELECT *, ctid FROM lockstep.job
        WHERE shard = x.shard AND %s AND due <= now()
          AND (due, id) > (x.after_due, x.after_id)
        ORDER BY due, id LIMIT x.wanted) j"""
          .formatted(JobRow.COLUMNS, OF_STREAM);

  // Like DUE, but steps over rows of unwanted lanes, up to x.walk rows. Always returns the last row
  // of the walk, to continue from. The lane list is hashed once.
  private static final String DUE_BUT_LANES =
      """
      SELECT x.n, %s, j.nth, j.is_last
      FROM unnest(?, ?, ?, ?, ?, ?, ?, ?)
        AS x (n, shard, queue, priority, after_due, after_id, wanted, walk)
      CROSS JOIN LATERAL (
        SELECT * FROM (
          SELECT *, row_number() OVER () AS nth, lead(id) OVER () IS NULL AS is_last FROM (
            SELECT *, ctid FROM lockstep.job
            WHERE shard = x.shard AND %s AND due <= now()
              AND (due, id) > (x.after_due, x.after_id)
            ORDER BY due, id LIMIT x.walk) walked) seen
        WHERE lane IS NULL OR is_last
          OR (x.n, lane) NOT IN (SELECT s.n, s.lane FROM unnest(?, ?) AS s (n, lane))
        LIMIT x.wanted) j"""
          .formatted(JobRow.COLUMNS, OF_STREAM);

  // The next rows of lanes, by the index job_lane: one range per lane.
  private static final String DUE_OF_LANES =
      """
      SELECT x.n, %s
      FROM unnest(?, ?, ?, ?, ?, ?, ?, ?)
        AS x (n, shard, queue, priority, lane, after_due, after_id, wanted)
      CROSS JOIN LATERAL (
        SELECT *, ctid FROM lockstep.job
        WHERE shard = x.shard
          AND hashtextextended(lane, hashtextextended(queue, priority))
            = hashtextextended(x.lane, hashtextextended(x.queue, x.priority))
          AND queue = x.queue AND priority = x.priority AND lane = x.lane AND due <= now()
          AND (due, id) > (x.after_due, x.after_id)
        ORDER BY due, id LIMIT x.wanted) j"""
          .formatted(JobRow.COLUMNS);

  // What every read needs, in one statement. Always returns a row, perhaps without a queue.
  private static final String NEXT_DUE_AND_QUEUES =
      """
      SELECT now(), (SELECT ceil(extract(epoch FROM min(j.due) - now()) * 1000)::bigint
              FROM unnest(?, ?, ?) AS x (shard, queue, priority)
              CROSS JOIN LATERAL (
                SELECT due FROM lockstep.job
                WHERE shard = x.shard AND %s AND due > now()
                ORDER BY due, id LIMIT 1) j),
             q.queue, q.paused, q.rate_limit
      FROM (SELECT 1) one LEFT JOIN lockstep.job_queue q ON true"""
          .formatted(OF_STREAM);

  // Uses the partial index job_kept.
  private static final String MARKED =
      """
      SELECT j.queue, j.priority, %s FROM unnest(?) AS x (shard)
      JOIN lockstep.job j ON j.shard = x.shard AND j.keeper IS NOT NULL"""
          .formatted(JobRow.COLUMNS);

  private static final String VERSIONS =
      """
      SELECT j.id, j.version FROM unnest(?, ?) AS x (shard, id)
      JOIN lockstep.job j ON j.shard = x.shard AND j.id = x.id""";

  private static final String VERSION =
      "SELECT j.id, j.version FROM lockstep.job j WHERE j.shard = ? AND j.id = ?";

  private static final Comparator<JobRow> IN_ORDER =
      Comparator.comparing(JobRow::due).thenComparing(JobRow::id);

  // Rows one read steps over: some tens of milliseconds. Then the minimum per stream.
  private static final int MAX_WALK = 20_000;
  private static final int MIN_WALK = 500;

  private final Transactor transactor;
  private final JobsListener listener;
  private final TxOptions options;

  JobReads(Transactor transactor, JobsListener listener) {
    this.transactor = transactor;
    this.listener = listener;
    this.options = transactor.defaults().withLabel("jobs due").asReadOnly().withIndexLookups();
  }

  record QueueRow(String queue, boolean paused, double rate) {}

  /** The streams to read, then the lanes. */
  record ReadPlan(List<StreamRead> streams, List<LaneRead> lanes) {}

  /**
   * The rows read from one stream.
   *
   * @param rows in order
   * @param walked how many rows were looked at to find them
   * @param reachedEnd whether no more of it is due
   */
  record StreamRows(List<JobRow> rows, int walked, boolean reachedEnd) {}

  /**
   * The result of one look at the table.
   *
   * @param at the database's time
   * @param due one entry per stream asked for
   * @param lanes one list per lane asked for, in order; read after the streams
   * @param nextMs milliseconds until the first job that is not due yet, if there is one
   */
  record TableRead(
      Instant at,
      List<StreamRows> due,
      List<List<JobRow>> lanes,
      OptionalLong nextMs,
      List<QueueRow> queues) {}

  private record Setting(Instant at, OptionalLong nextMs, Optional<QueueRow> queue) {
    static Setting read(ResultSet row) throws SQLException {
      Instant at = row.getTimestamp(1).toInstant();
      long ms = row.getLong(2);
      OptionalLong nextMs = row.wasNull() ? OptionalLong.empty() : OptionalLong.of(Math.max(0, ms));
      String queue = row.getString(3);
      return new Setting(
          at,
          nextMs,
          queue == null
              ? Optional.empty()
              : Optional.of(new QueueRow(queue, row.getBoolean(4), row.getDouble(5))));
    }
  }

  TableRead read(ReadPlan plan) {
    return transactor.call(
        options,
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          List<Finding> due = plan.streams().stream().map(Finding::new).toList();
          due(trip, due.stream().filter(one -> one.read.skipped().isEmpty()).toList());
          dueButLanes(trip, due.stream().filter(one -> !one.read.skipped().isEmpty()).toList());
          List<List<JobRow>> lanes = dueOfLanes(trip, plan.lanes());
          Rows<Setting> settings = settings(trip, plan.streams());
          long askedNanos = System.nanoTime();
          try {
            trip.send();
          } finally {
            int rows =
                due.stream().mapToInt(one -> one.rows.size()).sum()
                    + lanes.stream().mapToInt(List::size).sum();
            Duration took = Duration.ofNanos(System.nanoTime() - askedNanos);
            Listening.tell(() -> listener.onRead(JobsListener.Reader.WORKER, rows, took));
          }
          lanes.forEach(each -> each.sort(IN_ORDER));
          Setting first = settings.list().get(0);
          return new TableRead(
              first.at(),
              due.stream().map(Finding::found).toList(),
              lanes,
              first.nextMs(),
              settings.list().stream().flatMap(setting -> setting.queue().stream()).toList());
        });
  }

  /** Collects the rows of one stream. */
  private static final class Finding {
    final StreamRead read;
    final List<JobRow> rows = new ArrayList<>();
    // Of a walk: its limit, how far the rows reach, and whether its last row was returned.
    int walk;
    int walked;
    boolean walkEnded;

    Finding(StreamRead read) {
      this.read = read;
    }

    StreamRows found() {
      rows.sort(IN_ORDER);
      return walk == 0
          ? new StreamRows(rows, rows.size(), rows.size() < read.limit())
          : new StreamRows(rows, walked, rows.isEmpty() || (walkEnded && walked < walk));
    }
  }

  /** The marked jobs of these shards. */
  List<JobRow> marked(List<Lease> leases) {
    return transactor.call(
        options,
        connection ->
            RoundTrip.list(
                connection,
                MARKED,
                row -> JobRow.read(row, 2, row.getString(1), Priority.of(row.getInt(2))),
                SqlArray.smallints(leases.stream().map(lease -> (short) lease.shard()).toList())));
  }

  private record Version(JobId id, int version) {
    static Version read(ResultSet row) throws SQLException {
      return new Version(new JobId(row.getObject(1, UUID.class)), row.getInt(2));
    }

    static boolean isOf(Task task, Rows<Version> rows) {
      return rows.list().contains(new Version(task.row.id(), task.row.version()));
    }
  }

  /** Returns the jobs whose version is unchanged. */
  Set<JobId> unchanged(List<Task> tasks) {
    return transactor.call(
        options,
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          Rows<Version> rows =
              trip.query(
                  VERSIONS,
                  Version::read,
                  JobId.arrays(tasks.stream().map(task -> task.row.id()).toList()));
          trip.send();
          Set<Version> found = new HashSet<>(rows.list());
          return tasks.stream()
              .map(task -> task.row)
              .filter(row -> found.contains(new Version(row.id(), row.version())))
              .map(JobRow::id)
              .collect(Collectors.toSet());
        });
  }

  /** Checks a job that an open transaction may be changing. */
  RowState stateDespiteChanges(Task task) {
    return transactor.call(
        transactor.defaults().withLabel("job doubted").withIndexLookups(),
        connection -> {
          Object[] key = {(short) task.row.id().shard(), task.row.id().value()};
          RoundTrip trip = new RoundTrip(connection);
          Rows<Version> now = trip.query(VERSION, Version::read, key);
          // A row that an open transaction has changed is locked, so SKIP LOCKED leaves it out.
          Rows<Version> free = trip.query(VERSION + " FOR SHARE SKIP LOCKED", Version::read, key);
          trip.send();
          if (!Version.isOf(task, now)) {
            return RowState.CHANGED;
          }
          return Version.isOf(task, free) ? RowState.UNCHANGED : RowState.UNDECIDED;
        });
  }

  private static void due(RoundTrip trip, List<Finding> findings) {
    if (!findings.isEmpty()) {
      trip.query(DUE, row -> row(row, findings), parameters(findings).toArray());
    }
  }

  private static boolean row(ResultSet row, List<Finding> findings) throws SQLException {
    Finding finding = findings.get(row.getInt(1));
    JobStream stream = finding.read.stream();
    return finding.rows.add(JobRow.read(row, 1, stream.queue, stream.priority));
  }

  private static void dueButLanes(RoundTrip trip, List<Finding> findings) {
    if (findings.isEmpty()) {
      return;
    }
    int walk = Math.max(MIN_WALK, MAX_WALK / findings.size());
    List<Integer> numbers = new ArrayList<>();
    List<String> lanes = new ArrayList<>();
    for (int i = 0; i < findings.size(); i++) {
      findings.get(i).walk = walk;
      for (String lane : findings.get(i).read.skipped()) {
        numbers.add(i);
        lanes.add(lane);
      }
    }
    List<Object> parameters = parameters(findings);
    parameters.add(SqlArray.integers(Collections.nCopies(findings.size(), walk)));
    parameters.add(SqlArray.integers(numbers));
    parameters.add(SqlArray.texts(lanes));
    trip.query(
        DUE_BUT_LANES,
        row -> {
          Finding finding = findings.get(row.getInt(1));
          finding.walked = Math.max(finding.walked, row.getInt(2 + JobRow.COLUMN_COUNT));
          finding.walkEnded |= row.getBoolean(3 + JobRow.COLUMN_COUNT);
          return row(row, findings);
        },
        parameters.toArray());
  }

  private static List<Object> parameters(List<Finding> findings) {
    List<StreamRead> reads = findings.stream().map(one -> one.read).toList();
    return new ArrayList<>(
        List.of(
            numbers(reads.size()),
            shards(reads),
            names(reads),
            priorities(reads),
            times(reads.stream().map(read -> read.stream().afterDue())),
            SqlArray.uuids(reads.stream().map(read -> read.stream().afterId()).toList()),
            SqlArray.integers(reads.stream().map(StreamRead::limit).toList())));
  }

  private static List<List<JobRow>> dueOfLanes(RoundTrip trip, List<LaneRead> reads) {
    List<List<JobRow>> rows = new ArrayList<>();
    reads.forEach(read -> rows.add(new ArrayList<>()));
    if (!reads.isEmpty()) {
      List<StreamRead> streams =
          reads.stream().map(read -> new StreamRead(read.stream(), read.limit())).toList();
      trip.query(
          DUE_OF_LANES,
          row -> {
            JobStream stream = reads.get(row.getInt(1)).stream();
            return rows.get(row.getInt(1)).add(JobRow.read(row, 1, stream.queue, stream.priority));
          },
          numbers(reads.size()),
          shards(streams),
          names(streams),
          priorities(streams),
          SqlArray.texts(reads.stream().map(read -> read.lane().name).toList()),
          times(reads.stream().map(LaneRead::afterDue)),
          SqlArray.uuids(reads.stream().map(LaneRead::afterId).toList()),
          SqlArray.integers(reads.stream().map(LaneRead::limit).toList()));
    }
    return rows;
  }

  private static SqlArray numbers(int count) {
    return SqlArray.integers(IntStream.range(0, count).boxed().toList());
  }

  private static SqlArray times(Stream<Instant> times) {
    return new SqlArray("timestamptz", times.map(Instant::toString).toArray(String[]::new));
  }

  private static Rows<Setting> settings(RoundTrip trip, List<StreamRead> reads) {
    return trip.query(
        NEXT_DUE_AND_QUEUES, Setting::read, shards(reads), names(reads), priorities(reads));
  }

  private static SqlArray shards(List<StreamRead> reads) {
    return SqlArray.smallints(
        reads.stream().map(read -> (short) read.stream().lease.shard()).toList());
  }

  private static SqlArray names(List<StreamRead> reads) {
    return SqlArray.texts(reads.stream().map(read -> read.stream().queue).toList());
  }

  private static SqlArray priorities(List<StreamRead> reads) {
    return SqlArray.smallints(reads.stream().map(read -> read.stream().priority.code()).toList());
  }
}
