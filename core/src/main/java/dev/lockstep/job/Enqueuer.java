package dev.lockstep.job;

import dev.lockstep.fault.SqlFault;
import dev.lockstep.shard.ShardCount;
import dev.lockstep.sql.LockOrder;
import dev.lockstep.sql.PgDriver;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.sql.StorableText;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Writes new jobs, in the caller's transaction. */
final class Enqueuer {
  private static final String INSERT =
      """
      INSERT INTO lockstep.job (shard, id, queue, priority, due, kind, payload, lane, lane_limit,
                                unique_key, max_attempts)
      SELECT x.shard, x.id, x.queue, x.priority, coalesce(x.due, now()), x.kind, x.payload::json,
             x.lane, x.lane_limit, x.unique_key, x.max_attempts
      FROM unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        AS x (shard, id, queue, priority, due, kind, payload, lane, lane_limit, unique_key,
              max_attempts)""";

  // Waits for a transaction that is inserting the same key. Sorted by key, so that two batches
  // cannot deadlock.
  private static final String CLAIM_KEYS =
      """
      INSERT INTO lockstep.job_unique AS u (shard, queue, unique_key, id, created_at, expires_at)
      SELECT x.shard, x.queue, x.unique_key, x.id, now(),
             now() + x.period_ms * interval '1 millisecond'
      FROM unnest(?, ?, ?, ?, ?) AS x (shard, queue, unique_key, id, period_ms)
      ON CONFLICT (shard, queue, unique_key) DO UPDATE
      SET id = excluded.id, created_at = excluded.created_at, expires_at = excluded.expires_at
      WHERE u.expires_at <= excluded.created_at
      RETURNING u.id""";

  private static final String FIND_KEY =
      "SELECT id FROM lockstep.job_unique WHERE shard = ? AND queue = ? AND unique_key = ?";

  private static final String COPY =
      """
      COPY lockstep.job (shard, id, queue, priority, due, kind, payload, lane, lane_limit,
                         max_attempts) FROM STDIN (FORMAT binary)""";

  // Start small, so that the server gets work early. The character limit bounds memory when
  // payloads are large.
  private static final int FIRST_AHEAD = 1_024;
  private static final int MAX_AHEAD = 8_192;
  private static final int MAX_AHEAD_CHARS = 1 << 20;

  private static final String HINT = "SELECT pg_notify(?, ?)";

  private final JobsConfig config;
  private final JobIds ids;
  private final ShardCount shardCount;

  Enqueuer(JobsConfig config, JobIds ids, ShardCount shardCount) {
    this.config = config;
    this.ids = ids;
    this.shardCount = shardCount;
  }

  private record Row(JobId id, NewJob job) {
    short shard() {
      return (short) id.shard();
    }
  }

  List<EnqueueResult> enqueue(Connection connection, List<NewJob> jobs) throws SQLException {
    shardCount.agree(connection);
    List<Row> rows = rows(jobs);
    Map<JobId, JobId> refused = claimKeys(connection, rows);
    List<Row> accepted = rows.stream().filter(row -> !refused.containsKey(row.id())).toList();
    if (!accepted.isEmpty()) {
      RoundTrip trip = new RoundTrip(connection);
      insert(trip, accepted);
      hint(trip, accepted);
      trip.send();
    }
    List<EnqueueResult> results = new ArrayList<>();
    for (Row row : rows) {
      JobId existing = refused.get(row.id());
      results.add(
          existing == null
              ? new EnqueueResult.Created(row.id())
              : new EnqueueResult.Duplicate(existing));
    }
    return results;
  }

  long copy(Connection connection, Iterator<NewJob> jobs) throws SQLException {
    shardCount.agree(connection);
    Instant at = RoundTrip.now(connection);
    Set<String> queues = new TreeSet<>();
    long copied =
        PgDriver.copyIn(
            connection,
            COPY,
            new CopyRows<>(
                new Ahead(jobs),
                (row, out) -> {
                  queues.add(row.job().queue());
                  copyRow(row, at, out);
                }));
    RoundTrip trip = new RoundTrip(connection);
    hint(trip, queues);
    trip.send();
    return copied;
  }

  /** Reads jobs in chunks: spreading over shards needs to know how many there are. */
  private final class Ahead implements Iterator<Row> {
    private final Iterator<NewJob> jobs;
    private Iterator<Row> taken = Collections.emptyIterator();
    private int ahead = FIRST_AHEAD;

    Ahead(Iterator<NewJob> jobs) {
      this.jobs = jobs;
    }

    @Override
    public boolean hasNext() {
      return taken.hasNext() || jobs.hasNext();
    }

    @Override
    public Row next() {
      if (!taken.hasNext()) {
        List<NewJob> some = new ArrayList<>();
        for (int chars = 0; jobs.hasNext() && some.size() < ahead && chars < MAX_AHEAD_CHARS; ) {
          NewJob job = jobs.next();
          some.add(job);
          chars += job.payload().length();
        }
        ahead = Math.min(2 * ahead, MAX_AHEAD);
        taken = rows(some).iterator();
      }
      return taken.next();
    }
  }

  void requirePayload(String payload) {
    if (!StorableText.is(payload)
        || payload.length() > config.maxPayloadBytes()
        || (payload.length() > config.maxPayloadBytes() / 3
            && payload.getBytes(StandardCharsets.UTF_8).length > config.maxPayloadBytes())) {
      throw new IllegalArgumentException(
          "A payload is at most %d bytes, without NUL and half characters"
              .formatted(config.maxPayloadBytes()));
    }
  }

  private List<Row> rows(List<NewJob> jobs) {
    int apart = 0;
    for (NewJob job : jobs) {
      apart += job.lane().isEmpty() && job.unique().isEmpty() ? 1 : 0;
    }
    JobIds.Spread spread = ids.spread(apart);
    List<Row> rows = new ArrayList<>(jobs.size());
    jobs.forEach(job -> rows.add(row(job, spread)));
    return rows;
  }

  private Row row(NewJob job, JobIds.Spread spread) {
    requirePayload(job.payload());
    JobId id =
        job.lane()
            .map(lane -> ids.nextFor(job.queue(), lane.key()))
            .or(() -> job.unique().map(unique -> ids.nextFor(job.queue(), unique.key())))
            .orElseGet(spread::next);
    return new Row(id, job);
  }

  private static void copyRow(Row row, Instant now, CopyRows<Row> out) {
    NewJob job = row.job();
    if (job.unique().isPresent()) {
      throw new IllegalArgumentException(
          "COPY cannot report a duplicate key; enqueue jobs with a unique key with enqueueAll");
    }
    out.row(10)
        .smallint(row.shard())
        .uuid(row.id().value())
        .text(job.queue())
        .smallint(job.priority().code())
        .timestamp(job.runAt().orElse(now))
        .text(job.kind())
        .text(job.payload())
        .textOrNothing(job.lane().map(NewJob.Lane::key).orElse(null));
    if (job.lane().isPresent()) {
      out.smallint(job.lane().get().limit());
    } else {
      out.nothing();
    }
    out.smallint(job.maxAttempts());
  }

  /** The scope of a unique key. */
  private record QueueKey(String queue, String key) {}

  private Map<JobId, JobId> claimKeys(Connection connection, List<Row> rows) throws SQLException {
    Map<JobId, JobId> refused = new HashMap<>();
    Map<QueueKey, Row> firsts = new HashMap<>();
    for (Row row : rows) {
      if (row.job().unique().isPresent()) {
        QueueKey key = new QueueKey(row.job().queue(), key(row));
        Row first = firsts.putIfAbsent(key, row);
        if (first != null) {
          refused.put(row.id(), first.id());
        }
      }
    }
    if (firsts.isEmpty()) {
      return refused;
    }
    List<Row> sorted =
        firsts.values().stream()
            .sorted(
                Comparator.comparingInt(this::keyShard)
                    .thenComparing(row -> row.job().queue(), LockOrder.TEXT)
                    .thenComparing(Enqueuer::key, LockOrder.TEXT))
            .toList();
    Set<JobId> claimed = new TreeSet<>(insertKeys(connection, sorted));
    for (Row row : sorted) {
      if (!claimed.contains(row.id())) {
        refused.put(row.id(), find(connection, row));
      }
    }
    // A duplicate within the batch points at the first of the batch, or at the job that had the key
    // before, if there was one.
    refused.replaceAll((id, first) -> refused.getOrDefault(first, first));
    return refused;
  }

  private List<JobId> insertKeys(Connection connection, List<Row> rows) throws SQLException {
    return RoundTrip.list(
        connection,
        CLAIM_KEYS,
        row -> JobId.of(row.getString(1)),
        SqlArray.smallints(rows.stream().map(row -> (short) keyShard(row)).toList()),
        SqlArray.texts(rows.stream().map(row -> row.job().queue()).toList()),
        SqlArray.texts(rows.stream().map(Enqueuer::key).toList()),
        SqlArray.uuids(rows.stream().map(row -> row.id().value()).toList()),
        new SqlArray("int8", rows.stream().map(Enqueuer::periodMs).toArray(Long[]::new)));
  }

  private JobId find(Connection connection, Row row) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<JobId> found =
        trip.query(
            FIND_KEY,
            r -> JobId.of(r.getString(1)),
            (short) keyShard(row),
            row.job().queue(),
            key(row));
    trip.send();
    if (found.list().isEmpty()) {
      throw SqlFault.conflict("The job that held the unique key ended just now; retry");
    }
    return found.list().get(0);
  }

  private void insert(RoundTrip trip, List<Row> rows) {
    trip.update(
        INSERT,
        SqlArray.smallints(rows.stream().map(Row::shard).toList()),
        SqlArray.uuids(rows.stream().map(row -> row.id().value()).toList()),
        SqlArray.texts(rows.stream().map(row -> row.job().queue()).toList()),
        SqlArray.smallints(rows.stream().map(row -> row.job().priority().code()).toList()),
        new SqlArray("timestamptz", rows.stream().map(Enqueuer::due).toArray(String[]::new)),
        SqlArray.texts(rows.stream().map(row -> row.job().kind()).toList()),
        SqlArray.texts(rows.stream().map(row -> row.job().payload()).toList()),
        SqlArray.texts(
            rows.stream().map(row -> row.job().lane().map(NewJob.Lane::key).orElse(null)).toList()),
        new SqlArray("int2", rows.stream().map(Enqueuer::laneLimit).toArray(Short[]::new)),
        SqlArray.texts(
            rows.stream()
                .map(row -> row.job().unique().map(NewJob.UniqueKey::key).orElse(null))
                .toList()),
        SqlArray.smallints(rows.stream().map(row -> (short) row.job().maxAttempts()).toList()));
  }

  private void hint(RoundTrip trip, List<Row> rows) {
    Set<String> queues = new TreeSet<>();
    rows.forEach(row -> queues.add(row.job().queue()));
    hint(trip, queues);
  }

  /** Hints at future jobs too: a worker may be sleeping until a later one. */
  private void hint(RoundTrip trip, Set<String> queues) {
    if (config.hints()) {
      queues.forEach(queue -> trip.query(HINT, row -> true, JobsConfig.CHANNEL, queue));
    }
  }

  private int keyShard(Row row) {
    return ids.shardOf(row.job().queue(), key(row));
  }

  private static String key(Row row) {
    return row.job().unique().orElseThrow().key();
  }

  private static @Nullable Long periodMs(Row row) {
    return row.job().unique().orElseThrow().period().map(Duration::toMillis).orElse(null);
  }

  private static @Nullable Short laneLimit(Row row) {
    return row.job().lane().map(lane -> (short) lane.limit()).orElse(null);
  }

  private static @Nullable String due(Row row) {
    return row.job().runAt().map(at -> at.atOffset(ZoneOffset.UTC).toString()).orElse(null);
  }
}
