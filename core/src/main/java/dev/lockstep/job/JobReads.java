package dev.lockstep.job;

import dev.lockstep.job.Board.Ask;
import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import dev.lockstep.tx.SqlArray;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** What an owner asks the table: what is due, what is next, and how the queues are set. */
final class JobReads {
  // One index range a stream; nothing is locked and nothing is written. Only the owner of a shard
  // asks about it, so nobody else is shown the same jobs.
  private static final String DUE =
      """
      SELECT x.n, %s
      FROM unnest(?, ?, ?, ?, ?, ?, ?)
        AS x (n, shard, queue, priority, after_due, after_id, wanted)
      CROSS JOIN LATERAL (
        SELECT * FROM lockstep.job
        WHERE shard = x.shard AND queue = x.queue AND priority = x.priority AND due <= now()
          AND (due, id) > (x.after_due, x.after_id)
        ORDER BY due, id LIMIT x.wanted) j
      ORDER BY x.n, j.due, j.id"""
          .formatted(JobRow.COLUMNS);

  private static final String NEXT_DUE =
      """
      SELECT ceil(extract(epoch FROM min(j.due) - now()) * 1000)::bigint
      FROM unnest(?, ?, ?) AS x (shard, queue, priority)
      CROSS JOIN LATERAL (
        SELECT due FROM lockstep.job
        WHERE shard = x.shard AND queue = x.queue AND priority = x.priority AND due > now()
        ORDER BY due, id LIMIT 1) j""";

  private static final String QUEUES = "SELECT queue, paused, rate_limit FROM lockstep.job_queue";

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
   * @param due for each ask its rows, in order
   * @param nextMs until the first job that is not due yet, if there is one
   */
  record Look(List<List<JobRow>> due, OptionalLong nextMs, List<QueueRow> queues) {}

  private record Found(int ask, JobRow row) {}

  Look look(List<Ask> asks) {
    return transactor.call(
        options,
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          Rows<QueueRow> queues =
              trip.query(
                  QUEUES,
                  row -> new QueueRow(row.getString(1), row.getBoolean(2), row.getDouble(3)));
          Rows<Found> due = due(trip, asks);
          Rows<OptionalLong> next = next(trip, asks);
          trip.send();
          Map<Integer, List<JobRow>> byAsk = new HashMap<>();
          due.list()
              .forEach(
                  found ->
                      byAsk.computeIfAbsent(found.ask(), n -> new ArrayList<>()).add(found.row()));
          List<List<JobRow>> rows = new ArrayList<>();
          for (int i = 0; i < asks.size(); i++) {
            rows.add(byAsk.getOrDefault(i, List.of()));
          }
          return new Look(rows, next.list().get(0), queues.list());
        });
  }

  private static Rows<Found> due(RoundTrip trip, List<Ask> asks) {
    List<Integer> numbers = new ArrayList<>();
    for (int i = 0; i < asks.size(); i++) {
      numbers.add(i);
    }
    return trip.query(
        DUE,
        row -> new Found(row.getInt(1), JobRow.read(row, 1)),
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

  private static Rows<OptionalLong> next(RoundTrip trip, List<Ask> asks) {
    return trip.query(
        NEXT_DUE,
        row -> {
          long ms = row.getLong(1);
          return row.wasNull() ? OptionalLong.empty() : OptionalLong.of(Math.max(0, ms));
        },
        shards(asks),
        names(asks),
        priorities(asks));
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
