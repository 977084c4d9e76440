package dev.lockstep.job;

import dev.lockstep.job.JobStream.Ask;
import dev.lockstep.shard.Lease;
import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import dev.lockstep.tx.SqlArray;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** What an owner asks the table: what is due, what is next, and how the queues are set. */
final class JobReads {
  // By the index job_due, which has a number for queue and priority; and to be sure by these.
  private static final String OF_STREAM =
      """
      hashtextextended(queue, priority) = hashtextextended(x.queue, x.priority)
      AND queue = x.queue AND priority = x.priority""";

  // One index range a stream; nothing is locked and nothing is written. Only the owner of a shard
  // asks about it, so nobody else is shown the same jobs. Put in order here, where they are in
  // order already: the server would sort them all again, at a tenth of the cost of the whole read.
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

  // One statement for what is asked with every look: an idle node asks little. A row in any case,
  // and without a queue's name when none has settings.
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

  // By the index job_kept, which has these and no others.
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

  private final Transactor transactor;
  private final TxOptions options;

  JobReads(Transactor transactor) {
    this.transactor = transactor;
    this.options = transactor.defaults().withLabel("jobs due").asReadOnly().withPointLookups();
  }

  record QueueRow(String queue, boolean paused, double rate) {}

  /**
   * What a look at the table showed.
   *
   * @param at the database's time
   * @param due for each ask its rows, in order
   * @param nextMs until the first job that is not due yet, if there is one
   */
  record Look(Instant at, List<List<JobRow>> due, OptionalLong nextMs, List<QueueRow> queues) {}

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

  Look look(List<Ask> asks) {
    return transactor.call(
        options,
        connection -> {
          List<List<JobRow>> rows = new ArrayList<>();
          asks.forEach(ask -> rows.add(new ArrayList<>()));
          RoundTrip trip = new RoundTrip(connection);
          due(trip, asks, rows);
          Rows<Setting> settings = settings(trip, asks);
          trip.send();
          rows.forEach(each -> each.sort(IN_ORDER));
          Setting first = settings.list().get(0);
          return new Look(
              first.at(),
              rows,
              first.nextMs(),
              settings.list().stream().flatMap(setting -> setting.queue().stream()).toList());
        });
  }

  /** The jobs of these shards whose rows say that a node runs them. */
  List<JobRow> marked(List<Lease> leases) {
    return transactor.call(
        options,
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          Rows<JobRow> rows =
              trip.query(
                  MARKED,
                  row -> JobRow.read(row, 2, row.getString(1), Priority.of(row.getInt(2))),
                  SqlArray.smallints(leases.stream().map(lease -> (short) lease.shard()).toList()));
          trip.send();
          return rows.list();
        });
  }

  private record Version(JobId id, int version) {
    static Version read(ResultSet row) throws SQLException {
      return new Version(new JobId(row.getObject(1, UUID.class)), row.getInt(2));
    }

    static boolean isOf(Task task, Rows<Version> rows) {
      return rows.list().contains(new Version(task.row.id(), task.row.version()));
    }
  }

  /** Those of the jobs that are as they were read. */
  Set<JobId> unchanged(List<Task> tasks) {
    return transactor.call(
        options,
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          Rows<Version> rows =
              trip.query(
                  VERSIONS,
                  Version::read,
                  SqlArray.smallints(
                      tasks.stream().map(task -> (short) task.row.id().shard()).toList()),
                  SqlArray.uuids(tasks.stream().map(task -> task.row.id().value()).toList()));
          trip.send();
          Set<Version> found = new HashSet<>(rows.list());
          return tasks.stream()
              .map(task -> task.row)
              .filter(row -> found.contains(new Version(row.id(), row.version())))
              .map(JobRow::id)
              .collect(Collectors.toSet());
        });
  }

  /** Whether a job may begin, of which somebody may be changing the row at this moment. */
  Freshness.Verdict askDespiteChanges(Task task) {
    return transactor.call(
        transactor.defaults().withLabel("job doubted").withPointLookups(),
        connection -> {
          Object[] key = {(short) task.row.id().shard(), task.row.id().value()};
          RoundTrip trip = new RoundTrip(connection);
          Rows<Version> now = trip.query(VERSION, Version::read, key);
          // What an open transaction has changed is locked by it, and not among these.
          Rows<Version> free = trip.query(VERSION + " FOR SHARE SKIP LOCKED", Version::read, key);
          trip.send();
          if (!Version.isOf(task, now)) {
            return Freshness.Verdict.CHANGED;
          }
          return Version.isOf(task, free) ? Freshness.Verdict.AS_READ : Freshness.Verdict.UNDECIDED;
        });
  }

  private static void due(RoundTrip trip, List<Ask> asks, List<List<JobRow>> rows) {
    List<Integer> numbers = new ArrayList<>();
    for (int i = 0; i < asks.size(); i++) {
      numbers.add(i);
    }
    trip.query(
        DUE,
        row -> {
          int ask = row.getInt(1);
          JobStream stream = asks.get(ask).stream();
          return rows.get(ask).add(JobRow.read(row, 1, stream.queue, stream.priority));
        },
        SqlArray.integers(numbers),
        shards(asks),
        names(asks),
        priorities(asks),
        new SqlArray(
            "timestamptz",
            asks.stream().map(ask -> ask.stream().afterDue().toString()).toArray(String[]::new)),
        SqlArray.uuids(asks.stream().map(ask -> ask.stream().afterId()).toList()),
        SqlArray.integers(asks.stream().map(Ask::limit).toList()));
  }

  private static Rows<Setting> settings(RoundTrip trip, List<Ask> asks) {
    return trip.query(
        NEXT_DUE_AND_QUEUES, Setting::read, shards(asks), names(asks), priorities(asks));
  }

  private static SqlArray shards(List<Ask> asks) {
    return SqlArray.smallints(
        asks.stream().map(ask -> (short) ask.stream().lease.shard()).toList());
  }

  private static SqlArray names(List<Ask> asks) {
    return SqlArray.texts(asks.stream().map(ask -> ask.stream().queue).toList());
  }

  private static SqlArray priorities(List<Ask> asks) {
    return SqlArray.smallints(asks.stream().map(ask -> ask.stream().priority.code()).toList());
  }
}
