package dev.lockstep.job;

import dev.lockstep.sql.Listening;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Claims jobs of one queue for a list of requests, in one transaction.
 *
 * <p>The lock on the queue's row admits one claiming transaction per queue, across all nodes. That
 * makes lane order, lane limits and the rate exact. Jobs' rows are neither locked nor written. The
 * primary key of {@code job_claim} also guarantees one claim per job.
 */
final class ClaimTable {
  // Read after the queue's row is locked, in a fresh snapshot. The third column is how long the
  // next start is overdue.
  private static final String SETTINGS =
      """
      SELECT coalesce(q.paused, false), coalesce(q.rate_limit, 0),
             extract(epoch FROM clock_timestamp() - c.next_start)
      FROM lockstep.job_claim_queue c LEFT JOIN lockstep.job_queue q ON q.queue = c.queue
      WHERE c.queue = ?\
      """;

  private static final String SET_NEXT_START =
      """
      UPDATE lockstep.job_claim_queue
      SET next_start = greatest(next_start, clock_timestamp() - ? * interval '1 second')
                       + ? * interval '1 second'
      WHERE queue = ?\
      """;

  private static final String START_IN =
      """
      UPDATE lockstep.job_claim_queue SET next_start = clock_timestamp() + ? * interval '1 second'
      WHERE queue = ?\
      """;

  // A job that was changed or has ended since it was read is not returned. Stops after the job with
  // which the payloads reach a size.
  private static final String CLAIM =
      """
      WITH claimed AS (
        INSERT INTO lockstep.job_claim
          (shard, id, token, claimer, queue, priority, lane, version, lease_ms, expires_at)
        SELECT w.shard, w.id, w.token, w.claimer, w.queue, w.priority, w.lane, w.version, w.lease_ms,
               clock_timestamp() + w.lease_ms * interval '1 millisecond'
        FROM (
          SELECT j.shard, j.id, x.token, x.claimer, j.queue, j.priority, j.lane, j.version, x.lease_ms,
            coalesce(sum(octet_length(j.payload::text)) OVER (
              ORDER BY x.place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
          FROM unnest(?, ?, ?, ?, ?, ?) WITH ORDINALITY
            AS x (shard, id, version, token, claimer, lease_ms, place)
          JOIN lockstep.job j ON j.shard = x.shard AND j.id = x.id AND j.version = x.version) w
        WHERE w.bytes_before < ?
        ON CONFLICT (shard, id) DO NOTHING
        RETURNING shard, id, token, expires_at)
      SELECT c.token, c.expires_at, j.id, j.queue, j.kind, j.payload, j.attempts, j.max_attempts,
             j.lane, coalesce(j.planned, j.due) AS planned
      FROM claimed c JOIN lockstep.job j ON j.shard = c.shard AND j.id = c.id\
      """;

  // Ignores wait_until, which has no index: a job of an ordered lane that waits for a retry is
  // found by polling.
  private static final String NEXT =
      """
      SELECT ceil(extract(epoch FROM least(
        (SELECT min(n.due) FROM generate_series(0, ? - 1) AS s (shard)
         CROSS JOIN unnest(ARRAY[0, 1, 2]) AS p (priority)
         CROSS JOIN LATERAL (
           SELECT j.due FROM lockstep.job j
           WHERE j.shard = s.shard
             AND hashtextextended(j.queue, j.priority) = hashtextextended(?, p.priority)
             AND j.queue = ? AND j.priority = p.priority AND j.due > now()
           ORDER BY j.due, j.id LIMIT 1) n),
        (SELECT min(c.expires_at) FROM lockstep.job_claim c WHERE c.queue = ?))
        - clock_timestamp()) * 1000)::bigint\
      """;

  /** The burst a rate allows: a tenth of a second's worth. */
  private static final double BURST_SECONDS = 0.1;

  private final Connection connection;
  private final String queue;
  private final int shards;
  private final JobIds ids;
  private final ClaimableJobs free;
  private final JobsListener listener;
  private long bytesLeft = Claims.MAX_BYTES;

  ClaimTable(Connection connection, String queue, JobsConfig config, JobIds ids) {
    this.connection = connection;
    this.queue = queue;
    this.shards = config.shards();
    this.ids = ids;
    this.free = new ClaimableJobs(connection, queue, shards);
    this.listener = config.listener();
  }

  private record Settings(boolean paused, double rate, @Nullable Double overdueSeconds) {
    static Settings read(ResultSet row) throws SQLException {
      double overdue = row.getDouble(3);
      return new Settings(row.getBoolean(1), row.getDouble(2), row.wasNull() ? null : overdue);
    }

    /** How many jobs the pause flag and the rate allow now. */
    int allowed(int wanted) {
      if (paused) {
        return 0;
      }
      if (rate <= 0 || overdueSeconds == null) {
        return rate <= 0 ? wanted : 1;
      }
      if (overdueSeconds < 0) {
        return 0;
      }
      return (int) Math.min(wanted, 1 + Math.floor(Math.min(overdueSeconds, BURST_SECONDS) * rate));
    }

    /**
     * Whether an earlier, slower rate has pushed the next start further away than this rate ever
     * would.
     */
    boolean isNextStartTooFar() {
      return rate > 0 && overdueSeconds != null && overdueSeconds < -1 / rate;
    }

    Settings broughtForward() {
      return new Settings(paused, rate, -1 / rate);
    }

    OptionalLong waitMs() {
      return rate > 0 && overdueSeconds != null && overdueSeconds < 0
          ? OptionalLong.of((long) Math.ceil(-overdueSeconds * 1_000))
          : OptionalLong.empty();
    }
  }

  /** Serves the requests in order. */
  Claims.Taken claim(List<ClaimAsk> asks) throws SQLException {
    ClaimDistribution shares = new ClaimDistribution(asks);
    ClaimQueues.lock(connection, List.of(queue));
    if (ServedQueues.areServed(connection, List.of(queue))) {
      return new Claims.Taken(shares.given(), OptionalLong.empty(), true);
    }
    new ClaimExpiry(connection, ids).expireSome(queue);
    Settings settings = look();
    shares.allow(settings.allowed(shares.open()));
    for (Priority priority : Priority.values()) {
      while (shares.open() > 0 && bytesLeft > 0 && round(priority, shares)) {
        // The next round sees the claims of this one.
      }
    }
    if (settings.rate() > 0 && shares.taken() > 0) {
      count(settings, shares.taken());
    }
    return new Claims.Taken(shares.given(), next(shares, settings), false);
  }

  private OptionalLong next(ClaimDistribution shares, Settings settings) throws SQLException {
    boolean everybodyHas = shares.given().stream().noneMatch(List::isEmpty);
    if (everybodyHas || settings.paused()) {
      return OptionalLong.empty();
    }
    if (bytesLeft <= 0) {
      return OptionalLong.of(0);
    }
    return settings.waitMs().isPresent() ? settings.waitMs() : next();
  }

  /** Reads the queue's settings, and makes jobs abandoned by dead workers claimable. */
  private Settings look() throws SQLException {
    QueueRecovery recovery = new QueueRecovery(connection, ids, queue);
    RoundTrip read = new RoundTrip(connection);
    Rows<Settings> settings = read.query(SETTINGS, Settings::read, queue);
    Rows<UUID> workers = recovery.readWorkers(read);
    read.send();
    if (!workers.list().isEmpty()) {
      recovery.count(workers.list());
    }
    return broughtForward(settings.list().get(0));
  }

  private Settings broughtForward(Settings settings) throws SQLException {
    if (!settings.isNextStartTooFar()) {
      return settings;
    }
    RoundTrip trip = new RoundTrip(connection);
    trip.update(START_IN, 1 / settings.rate(), queue);
    trip.send();
    return settings.broughtForward();
  }

  /** Claims one round of jobs. Returns false if none of this priority is left. */
  private boolean round(Priority priority, ClaimDistribution shares) throws SQLException {
    int wanted = shares.open();
    List<ClaimableJobs.Free> chosen = withinLanes(read(priority, wanted));
    if (chosen.isEmpty()) {
      return false;
    }
    List<ClaimAsk> owners = shares.next(chosen.size());
    List<UUID> tokens = chosen.stream().map(job -> UUID.randomUUID()).toList();
    RoundTrip write = new RoundTrip(connection);
    Rows<ClaimedJob> claimed =
        write.query(
            CLAIM,
            ClaimTable::claimed,
            SqlArray.smallints(chosen.stream().map(job -> (short) job.id().shard()).toList()),
            SqlArray.uuids(chosen.stream().map(job -> job.id().value()).toList()),
            SqlArray.integers(chosen.stream().map(ClaimableJobs.Free::version).toList()),
            SqlArray.uuids(tokens),
            SqlArray.texts(owners.stream().map(ClaimAsk::claimer).toList()),
            SqlArray.bigints(owners.stream().map(ask -> ask.lease().toMillis()).toList()),
            bytesLeft);
    write.send();
    Map<UUID, ClaimedJob> byToken = new HashMap<>();
    for (ClaimedJob job : claimed.list()) {
      byToken.put(job.token().lease(), job);
      bytesLeft -= job.payload().getBytes(StandardCharsets.UTF_8).length;
    }
    // In the order read, each to the request its claim was written for.
    List<Optional<ClaimedJob>> inOrder = new ArrayList<>();
    tokens.forEach(token -> inOrder.add(Optional.ofNullable(byToken.get(token))));
    shares.give(inOrder);
    return !claimed.list().isEmpty();
  }

  private List<ClaimableJobs.Free> read(Priority priority, int wanted) throws SQLException {
    List<ClaimableJobs.Free> found = List.of();
    long askedNanos = System.nanoTime();
    try {
      found = free.read(priority, wanted);
      return found;
    } finally {
      Duration took = Duration.ofNanos(System.nanoTime() - askedNanos);
      int rows = found.size();
      Listening.tell(() -> listener.onRead(JobsListener.Reader.CLAIM, rows, took));
    }
  }

  /**
   * Applies lane limits within this round: the read counted earlier claims, not the other jobs it
   * returned.
   */
  private static List<ClaimableJobs.Free> withinLanes(List<ClaimableJobs.Free> free) {
    Map<String, Integer> more = new HashMap<>();
    List<ClaimableJobs.Free> chosen = new ArrayList<>();
    for (ClaimableJobs.Free job : free) {
      if (job.lane() == null
          || job.inFlight() + more.getOrDefault(job.lane(), 0) < job.laneLimit()) {
        chosen.add(job);
        if (job.lane() != null) {
          more.merge(job.lane(), 1, Integer::sum);
        }
      }
    }
    return chosen;
  }

  private void count(Settings settings, int taken) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    if (settings.overdueSeconds() == null) {
      trip.update(START_IN, taken / settings.rate(), queue);
    } else {
      trip.update(SET_NEXT_START, BURST_SECONDS, taken / settings.rate(), queue);
    }
    trip.send();
  }

  private OptionalLong next() throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<OptionalLong> next =
        trip.query(
            NEXT,
            row -> {
              long ms = row.getLong(1);
              return row.wasNull() ? OptionalLong.empty() : OptionalLong.of(Math.max(0, ms));
            },
            shards,
            queue,
            queue,
            queue);
    trip.send();
    return next.list().get(0);
  }

  private static ClaimedJob claimed(ResultSet row) throws SQLException {
    return new ClaimedJob(
        new ClaimToken(
            new JobId(row.getObject("id", UUID.class)), row.getObject("token", UUID.class)),
        row.getString("queue"),
        row.getString("kind"),
        row.getString("payload"),
        row.getInt("attempts") + 1,
        row.getInt("max_attempts"),
        Optional.ofNullable(row.getString("lane")),
        instant(row, "planned"),
        instant(row, "expires_at"));
  }

  private static Instant instant(ResultSet row, String column) throws SQLException {
    return row.getTimestamp(column).toInstant();
  }
}
