package dev.lockstep.shard;

import dev.lockstep.shard.GroupView.MemberRow;
import dev.lockstep.shard.GroupView.ShardRow;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.tx.RetryPolicy;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Runs the statements on a group's rows. Each method is its own transaction, unless it takes a
 * connection.
 */
final class ShardTable {
  // The first caller fixes the number; concurrent callers wait and read it.
  static final String CREATE_GROUP =
      """
      INSERT INTO lockstep.shard_group (shard_group, shards) VALUES (?, ?)
      ON CONFLICT (shard_group) DO NOTHING""";
  private static final String READ_GROUP =
      "SELECT shards FROM lockstep.shard_group WHERE shard_group = ?";
  private static final String CREATE_SHARDS =
      """
      INSERT INTO lockstep.shard (shard, shard_group)
      SELECT s, ? FROM generate_series(0, ? - 1) s
      ON CONFLICT (shard, shard_group) DO NOTHING""";

  private static final String JOIN =
      """
      INSERT INTO lockstep.shard_member (shard_group, member, node, leaving, expires_at, lease_ms)
      VALUES (?, ?, ?, false, now() + ? * interval '1 millisecond', ?)""";

  // One heartbeat per node covers all its shards. No row: the node was declared dead. An expired
  // lease that no member has noticed is renewed, which is safe: the shards are still its own.
  private static final String BEAT =
      """
      UPDATE lockstep.shard_member
      SET expires_at = now() + ? * interval '1 millisecond', leaving = ?
      WHERE shard_group = ? AND member = ?""";

  // now() is the transaction's start, so waiting makes this more patient, never less. Skips locked
  // rows: a member that is sending its heartbeat is alive, and two members that remove each other
  // must not wait for each other.
  private static final String REMOVE_EXPIRED =
      """
      DELETE FROM lockstep.shard_member m
      USING (SELECT shard_group, member FROM lockstep.shard_member
             WHERE shard_group = ? AND expires_at <= now() FOR UPDATE SKIP LOCKED) dead
      WHERE m.shard_group = dead.shard_group AND m.member = dead.member""";

  // The database's clock was set back: a dead member's lease would last that much longer. A member
  // that is alive renews its lease long before the new one ends. Two leases, because a heartbeat
  // may be newer than this transaction.
  private static final String AHEAD =
      "expires_at > now() + 2 * lease_ms * interval '1 millisecond'";

  private static final String SHORTEN =
      """
      UPDATE lockstep.shard_member m SET expires_at = now() + m.lease_ms * interval '1 millisecond'
      FROM (SELECT shard_group, member FROM lockstep.shard_member
            WHERE shard_group = ? AND %s FOR UPDATE SKIP LOCKED) ahead
      WHERE m.shard_group = ahead.shard_group AND m.member = ahead.member"""
          .formatted(AHEAD);

  // Reads shards and members in one snapshot: a member joins before it owns, so an owner missing
  // from the members is gone. Members come last, without a shard.
  private static final String READ =
      """
      SELECT shard, epoch, owner, NULL AS node, NULL::boolean AS leaving, false AS expired,
        NULL::boolean AS ahead
      FROM lockstep.shard WHERE shard_group = ?
      UNION ALL
      SELECT NULL, NULL, member, node, leaving, expires_at <= now(), %s
      FROM lockstep.shard_member WHERE shard_group = ?
      ORDER BY shard"""
          .formatted(AHEAD);

  // Compare-and-set on the epoch. Skips a locked row: another member is taking it, or the former
  // owner still has a fenced transaction open. The next heartbeat tries again.
  private static final String TAKE =
      """
      WITH free AS MATERIALIZED (
        SELECT owner FROM lockstep.shard
        WHERE shard = ? AND shard_group = ? AND epoch = ? FOR UPDATE SKIP LOCKED)
      UPDATE lockstep.shard s SET owner = ?, epoch = s.epoch + 1
      FROM free f WHERE s.shard = ? AND s.shard_group = ?
      RETURNING s.shard, s.epoch, f.owner IS NULL""";

  // Raises the epoch too: this node's late writes are refused from now on.
  private static final String RELEASE =
      """
      UPDATE lockstep.shard SET owner = NULL, epoch = epoch + 1
      WHERE shard = ? AND shard_group = ? AND epoch = ?""";

  private static final String MEMBERS =
      "SELECT member FROM lockstep.shard_member WHERE shard_group = ?";

  // Raises the epochs of dead owners' shards, because a fence checks only the epoch. Keeps the
  // owner, so that the next one knows that the shard was not handed over. Skips rows locked by an
  // open fenced transaction and returns their owners.
  private static final String SHUT_OUT =
      """
      WITH theirs AS MATERIALIZED (
        SELECT shard, owner FROM lockstep.shard WHERE shard_group = ? AND owner = ANY (?)),
      free AS MATERIALIZED (
        SELECT shard, shard_group FROM lockstep.shard WHERE shard_group = ? AND owner = ANY (?)
        FOR UPDATE SKIP LOCKED),
      raised AS (
        UPDATE lockstep.shard s SET epoch = s.epoch + 1 FROM free f
        WHERE s.shard = f.shard AND s.shard_group = f.shard_group
        RETURNING s.shard)
      SELECT DISTINCT t.owner FROM theirs t
      WHERE NOT EXISTS (SELECT 1 FROM raised r WHERE r.shard = t.shard)""";

  private static final String LEAVE =
      "DELETE FROM lockstep.shard_member WHERE shard_group = ? AND member = ?";

  private final Transactor transactor;
  private final TxOptions options;
  private final String group;
  private final long leaseMs;

  ShardTable(Transactor transactor, ShardsConfig config) {
    this.transactor = transactor;
    this.group = config.group();
    this.leaseMs = config.lease().toMillis();
    // An answer that takes longer than a lease comes too late anyway.
    TxOptions defaults = transactor.defaults();
    this.options =
        defaults
            .withLabel("shard " + group)
            .withRetry(RetryPolicy.DEFAULT)
            .withDeadline(min(defaults.deadline(), config.lease()))
            .withLockTimeout(min(defaults.lockTimeout(), config.lease()))
            .withStatementTimeout(min(defaults.statementTimeout(), config.lease()))
            // A process that freezes between heartbeat and COMMIT holds a lock on its own row;
            // without this limit no member could remove it.
            .withIdleTimeout(min(defaults.idleTimeout(), config.lease()));
  }

  /** How long a transaction of the group may be idle. */
  Duration idleTimeout() {
    return options.idleTimeout();
  }

  /** A shard just taken. */
  record Taken(int shard, long epoch, boolean handedOver) {}

  /**
   * Creates the group if needed.
   *
   * @return its number of shards, which may differ from the one asked for
   */
  int create(int shards) {
    return transactor.call(
        options,
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          trip.update(CREATE_GROUP, group, (short) shards);
          Rows<Integer> actual = trip.query(READ_GROUP, row -> row.getInt(1), group);
          trip.send();
          int count = actual.list().get(0);
          RoundTrip rows = new RoundTrip(connection);
          rows.update(CREATE_SHARDS, group, count);
          rows.send();
          return count;
        });
  }

  void join(UUID member, String node) {
    inOneTrip(trip -> trip.update(JOIN, group, member, node, leaseMs, leaseMs));
  }

  /** Renews a member's lease and reads the group; empty if the member was declared dead. */
  Optional<GroupView> beat(UUID member, boolean leaving) {
    return transactor.call(
        options,
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          Rows<Object> beat = trip.update(BEAT, leaseMs, leaving, group, member);
          Rows<Line> lines = read(trip);
          trip.send();
          if (lines.list().stream().anyMatch(Line::ahead)) {
            RoundTrip shorten = new RoundTrip(connection);
            shorten.update(SHORTEN, group);
            shorten.send();
          }
          if (lines.list().stream().anyMatch(Line::expired)) {
            RoundTrip again = new RoundTrip(connection);
            again.update(REMOVE_EXPIRED, group);
            lines = read(again);
            again.send();
          }
          return beat.changed() == 1 ? Optional.of(view(lines)) : Optional.empty();
        });
  }

  /** Runs in the caller's transaction; see {@link Shards#gone}. */
  static Set<UUID> gone(Connection connection, String group, Collection<UUID> asked)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    // Perhaps no member is left to do this.
    trip.update(SHORTEN, group);
    trip.update(REMOVE_EXPIRED, group);
    Rows<UUID> members = trip.query(MEMBERS, row -> row.getObject(1, UUID.class), group);
    trip.send();
    Set<UUID> gone = new HashSet<>(asked);
    members.list().forEach(gone::remove);
    if (!gone.isEmpty()) {
      SqlArray owners = SqlArray.uuids(List.copyOf(gone));
      RoundTrip shutOut = new RoundTrip(connection);
      Rows<UUID> writing =
          shutOut.query(
              SHUT_OUT, row -> row.getObject(1, UUID.class), group, owners, group, owners);
      shutOut.send();
      writing.list().forEach(gone::remove);
    }
    return gone;
  }

  GroupView look() {
    return transactor.call(
        options.asReadOnly(),
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          Rows<Line> lines = read(trip);
          trip.send();
          return view(lines);
        });
  }

  /** Takes the shards that are still as they were seen. */
  List<Taken> take(UUID member, List<ShardRow> seen) {
    return transactor.call(
        options,
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          List<Rows<Taken>> each = new ArrayList<>();
          for (ShardRow row : seen) {
            short shard = (short) row.shard();
            each.add(
                trip.query(
                    TAKE,
                    r -> new Taken(r.getInt(1), r.getLong(2), r.getBoolean(3)),
                    shard,
                    group,
                    row.epoch(),
                    member,
                    shard,
                    group));
          }
          trip.send();
          return each.stream().flatMap(rows -> rows.list().stream()).toList();
        });
  }

  void release(Lease lease) {
    inOneTrip(trip -> trip.update(RELEASE, lease.fenced()));
  }

  void leave(UUID member) {
    inOneTrip(trip -> trip.update(LEAVE, group, member));
  }

  /** A row of {@link #READ}: a shard or a member. */
  private record Line(
      @Nullable ShardRow shard, @Nullable MemberRow member, boolean expired, boolean ahead) {
    static Line read(ResultSet row) throws SQLException {
      int shard = row.getInt("shard");
      boolean isMember = row.wasNull();
      UUID owner = row.getObject("owner", UUID.class);
      return isMember
          ? new Line(
              null,
              new MemberRow(owner, row.getString("node"), row.getBoolean("leaving")),
              row.getBoolean("expired"),
              row.getBoolean("ahead"))
          : new Line(new ShardRow(shard, row.getLong("epoch"), owner), null, false, false);
    }
  }

  private Rows<Line> read(RoundTrip trip) {
    return trip.query(READ, Line::read, group, group);
  }

  private static GroupView view(Rows<Line> lines) {
    List<ShardRow> shards = new ArrayList<>();
    List<MemberRow> members = new ArrayList<>();
    for (Line line : lines.list()) {
      if (line.shard() != null) {
        shards.add(line.shard());
      } else if (line.member() != null) {
        members.add(line.member());
      }
    }
    return new GroupView(shards, members);
  }

  @FunctionalInterface
  private interface Statement {
    void addTo(RoundTrip trip);
  }

  private void inOneTrip(Statement statement) {
    transactor.run(
        options,
        (Connection connection) -> {
          RoundTrip trip = new RoundTrip(connection);
          statement.addTo(trip);
          trip.send();
        });
  }

  private static Duration min(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? a : b;
  }
}
