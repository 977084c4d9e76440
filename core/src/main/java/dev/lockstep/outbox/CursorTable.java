package dev.lockstep.outbox;

import dev.lockstep.outbox.Lane.Progress;
import dev.lockstep.shard.Lease;
import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import dev.lockstep.tx.SqlArray;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The cursors and the keys they pass by, as their owner reads and writes them: everything is fenced
 * by the partition's epoch. Each method is a transaction of its own.
 */
final class CursorTable {
  private static final String HOLDS = "SELECT 1 WHERE " + Lease.FENCE;

  private static final String LOAD =
      """
      SELECT sink, version, delivered, done::text, target::text, ord::text, id, replay_seq,
        replay_to::text
      FROM lockstep.outbox_cursor WHERE part = ? AND\s"""
          + Lease.FENCE;
  private static final String LOAD_BLOCKED =
      """
      SELECT sink, version, key, seq, ord::text, attempts, error,
        (EXTRACT(epoch FROM retry_at - now()) * 1000)::bigint
      FROM lockstep.outbox_parked WHERE part = ? AND\s"""
          + Lease.FENCE
          + " ORDER BY parked_at, key";

  // Shares the lock on the partition's row with nobody but its owner's other transactions; locks
  // the cursors of the partition. An operator's replay raises the version: then nothing is changed,
  // and the cursor is read again.
  private static final String ADVANCE =
      """
      UPDATE lockstep.outbox_cursor c
      SET done = x.done, target = x.target, ord = x.ord, id = x.id, replay_seq = x.replay_seq,
        replay_to = x.replay_to, delivered = x.delivered
      FROM unnest(?::integer[], ?::integer[], ?::bigint[], ?::pg_snapshot[], ?::pg_snapshot[],
          ?::xid8[], ?::bigint[], ?::bigint[], ?::pg_snapshot[])
        x(sink, version, delivered, done, target, ord, id, replay_seq, replay_to)
      WHERE c.part = ? AND c.sink = x.sink AND c.version = x.version AND %s
      RETURNING c.sink"""
          .formatted(Lease.FENCE);

  // The key may have got a row from an operator meanwhile, who wants it from an earlier event on.
  private static final String BLOCK =
      """
      INSERT INTO lockstep.outbox_parked AS o
        (part, sink, key, seq, ord, attempts, error, retry_at, parked_at)
      SELECT ?, x.sink, x.key, x.seq, x.ord, x.attempts, x.error,
        now() + x.retry_ms * interval '1 millisecond', now()
      FROM unnest(?::integer[], ?::text[], ?::bigint[], ?::xid8[], ?::integer[], ?::text[],
        ?::bigint[]) x(sink, key, seq, ord, attempts, error, retry_ms)
      WHERE %s
      ON CONFLICT (part, sink, key) DO UPDATE SET seq = LEAST(o.seq, excluded.seq),
        ord = LEAST(o.ord, excluded.ord), attempts = excluded.attempts, error = excluded.error,
        retry_at = excluded.retry_at, version = o.version + 1
      RETURNING sink, key, version"""
          .formatted(Lease.FENCE);
  private static final String MOVE =
      """
      UPDATE lockstep.outbox_parked o
      SET seq = x.seq, ord = x.ord, attempts = x.attempts, error = x.error,
        retry_at = now() + x.retry_ms * interval '1 millisecond', version = o.version + 1
      FROM unnest(?::integer[], ?::text[], ?::bigint[], ?::xid8[], ?::integer[], ?::text[],
        ?::bigint[], ?::integer[]) x(sink, key, seq, ord, attempts, error, retry_ms, version)
      WHERE o.part = ? AND o.sink = x.sink AND o.key = x.key AND o.version = x.version AND %s
      RETURNING o.sink, o.key, o.version"""
          .formatted(Lease.FENCE);
  private static final String FREE =
      """
      DELETE FROM lockstep.outbox_parked o
      USING unnest(?::integer[], ?::text[], ?::integer[]) x(sink, key, version)
      WHERE o.part = ? AND o.sink = x.sink AND o.key = x.key AND o.version = x.version AND %s
      RETURNING o.sink, o.key, o.version"""
          .formatted(Lease.FENCE);

  // A cursor that is lost in a crash of the database only means that events are sent again.
  private static final String NO_FLUSH = "SET LOCAL synchronous_commit = off";

  private final Transactor transactor;
  private final TxOptions options;

  CursorTable(Transactor transactor) {
    this.transactor = transactor;
    this.options = transactor.defaults().withLabel("outbox cursor").withPointLookups();
  }

  /** A cursor as it was read, with the keys it passes by. */
  record Loaded(int sink, int version, long delivered, Position at, List<Blocked> blocked) {}

  /** What is to be written for one sink in one partition. */
  record Write(Lease lease, int sink, int version, Progress progress) {}

  /**
   * What was written.
   *
   * @param versions of the keys' rows
   * @param conflict somebody else has changed something: read it again
   */
  record Written(Map<String, Integer> versions, boolean conflict) {}

  private record Changed(int sink, String key, int version) {}

  /** Whether the lease holds at this moment. */
  boolean holds(Lease lease) {
    return transactor.call(
        options,
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          lease.bound(trip);
          Rows<Boolean> held = trip.query(HOLDS, row -> true, lease.fenced());
          trip.send();
          return !held.list().isEmpty();
        });
  }

  /** The cursors of partitions; nothing of one whose lease is over. */
  Map<Lease, List<Loaded>> load(List<Lease> leases, long nowNanos) {
    return transactor.call(
        options,
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          Map<Lease, Rows<Loaded>> cursors = new LinkedHashMap<>();
          Map<Lease, Rows<Map.Entry<Integer, Blocked>>> blocked = new HashMap<>();
          for (Lease lease : sorted(leases)) {
            lease.bound(trip);
            short part = (short) lease.shard();
            blocked.put(
                lease, trip.query(LOAD_BLOCKED, row -> blocked(row, nowNanos), lease.fenced(part)));
            cursors.put(lease, trip.query(LOAD, CursorTable::cursor, lease.fenced(part)));
          }
          trip.send();
          Map<Lease, List<Loaded>> all = new HashMap<>();
          cursors.forEach((lease, rows) -> all.put(lease, withBlocked(rows, blocked.get(lease))));
          return all;
        });
  }

  private static List<Loaded> withBlocked(
      Rows<Loaded> cursors, @Nullable Rows<Map.Entry<Integer, Blocked>> blocked) {
    if (blocked != null) {
      Map<Integer, Loaded> bySink = new HashMap<>();
      cursors.list().forEach(cursor -> bySink.put(cursor.sink(), cursor));
      for (Map.Entry<Integer, Blocked> entry : blocked.list()) {
        Loaded cursor = bySink.get(entry.getKey());
        if (cursor != null) {
          cursor.blocked().add(entry.getValue());
        }
      }
    }
    return cursors.list();
  }

  private static Loaded cursor(ResultSet row) throws SQLException {
    Position at =
        new Position(
            row.getString(4),
            row.getString(5),
            row.getString(6),
            row.getLong(7),
            row.getLong(8),
            row.getString(9));
    return new Loaded(row.getInt(1), row.getInt(2), row.getLong(3), at, new ArrayList<>());
  }

  private static Map.Entry<Integer, Blocked> blocked(ResultSet row, long nowNanos)
      throws SQLException {
    Blocked one = new Blocked(row.getString(3), row.getLong(4), row.getString(5));
    one.version = row.getInt(2);
    one.attempts = row.getInt(6);
    one.error = row.getString(7);
    long retryMs = row.getLong(8);
    if (row.wasNull()) {
      one.park();
    } else {
      one.retryAt(nowNanos + retryMs * 1_000_000);
    }
    return Map.entry(row.getInt(1), one);
  }

  /** Writes progress of any number of lanes: partitions in order, each with its own fence. */
  List<Written> write(List<Write> writes, long nowNanos) {
    return transactor.call(
        options,
        connection -> {
          List<Lease> leases = writes.stream().map(Write::lease).distinct().toList();
          RoundTrip trip = new RoundTrip(connection);
          trip.update(NO_FLUSH);
          Map<Lease, OfLease> added = new HashMap<>();
          for (Lease lease : sorted(leases)) {
            lease.bound(trip);
            List<Write> own = writes.stream().filter(write -> write.lease() == lease).toList();
            added.put(lease, new OfLease(trip, lease, own, nowNanos));
          }
          trip.send();
          return writes.stream()
              .map(write -> Objects.requireNonNull(added.get(write.lease())).written(write))
              .toList();
        });
  }

  private static List<Lease> sorted(List<Lease> leases) {
    return leases.stream().sorted(Comparator.comparingInt(Lease::shard)).toList();
  }

  /** The statements of one partition, and what they gave. */
  private static final class OfLease {
    private final Rows<Integer> advanced;
    private final List<Rows<Changed>> changed = new ArrayList<>();

    OfLease(RoundTrip trip, Lease lease, List<Write> writes, long nowNanos) {
      advanced = advance(trip, lease, writes);
      List<Row> rows = new ArrayList<>();
      List<Changed> freed = new ArrayList<>();
      for (Write write : writes) {
        write.progress().blocked().forEach(one -> rows.add(new Row(write.sink(), one)));
        write
            .progress()
            .freed()
            .forEach((key, version) -> freed.add(new Changed(write.sink(), key, version)));
      }
      block(trip, lease, rows.stream().filter(row -> row.one().version == 0).toList(), nowNanos);
      move(trip, lease, rows.stream().filter(row -> row.one().version > 0).toList(), nowNanos);
      free(trip, lease, freed);
    }

    private record Row(int sink, Blocked one) {
      @Nullable Long retryMs(long nowNanos) {
        return one.isParked() ? null : one.retryInNanos(nowNanos) / 1_000_000;
      }
    }

    private static Rows<Integer> advance(RoundTrip trip, Lease lease, List<Write> writes) {
      List<Position> to = writes.stream().map(write -> write.progress().reached()).toList();
      return trip.query(
          ADVANCE,
          row -> row.getInt(1),
          lease.fenced(
              SqlArray.integers(writes.stream().map(Write::sink).toList()),
              SqlArray.integers(writes.stream().map(Write::version).toList()),
              SqlArray.bigints(writes.stream().map(w -> w.progress().delivered()).toList()),
              new SqlArray("pg_snapshot", to.stream().map(Position::done).toArray(String[]::new)),
              new SqlArray("pg_snapshot", to.stream().map(Position::target).toArray(String[]::new)),
              new SqlArray("xid8", to.stream().map(Position::ord).toArray(String[]::new)),
              SqlArray.bigints(to.stream().map(Position::id).toList()),
              SqlArray.bigints(to.stream().map(Position::replaySeq).toList()),
              new SqlArray(
                  "pg_snapshot", to.stream().map(Position::replayTo).toArray(String[]::new)),
              (short) lease.shard()));
    }

    private void block(RoundTrip trip, Lease lease, List<Row> rows, long nowNanos) {
      if (!rows.isEmpty()) {
        List<Object> values = new ArrayList<>();
        values.add((short) lease.shard());
        values.addAll(columns(rows, nowNanos));
        changed.add(trip.query(BLOCK, OfLease::changed, lease.fenced(values.toArray())));
      }
    }

    private void move(RoundTrip trip, Lease lease, List<Row> rows, long nowNanos) {
      if (!rows.isEmpty()) {
        List<Object> values = columns(rows, nowNanos);
        values.add(SqlArray.integers(rows.stream().map(row -> row.one().version).toList()));
        values.add((short) lease.shard());
        changed.add(trip.query(MOVE, OfLease::changed, lease.fenced(values.toArray())));
      }
    }

    private void free(RoundTrip trip, Lease lease, List<Changed> rows) {
      if (!rows.isEmpty()) {
        changed.add(
            trip.query(
                FREE,
                OfLease::changed,
                lease.fenced(
                    SqlArray.integers(rows.stream().map(Changed::sink).toList()),
                    SqlArray.texts(rows.stream().map(Changed::key).toList()),
                    SqlArray.integers(rows.stream().map(Changed::version).toList()),
                    (short) lease.shard())));
      }
    }

    private static List<Object> columns(List<Row> rows, long nowNanos) {
      List<Object> values = new ArrayList<>();
      values.add(SqlArray.integers(rows.stream().map(Row::sink).toList()));
      values.add(SqlArray.texts(rows.stream().map(row -> row.one().key).toList()));
      values.add(SqlArray.bigints(rows.stream().map(row -> row.one().seq).toList()));
      values.add(
          new SqlArray("xid8", rows.stream().map(row -> row.one().ord).toArray(String[]::new)));
      values.add(SqlArray.integers(rows.stream().map(row -> row.one().attempts).toList()));
      values.add(SqlArray.texts(rows.stream().map(row -> row.one().error).toList()));
      values.add(
          new SqlArray(
              "int8", rows.stream().map(row -> row.retryMs(nowNanos)).toArray(Long[]::new)));
      return values;
    }

    private static Changed changed(ResultSet row) throws SQLException {
      return new Changed(row.getInt(1), row.getString(2), row.getInt(3));
    }

    Written written(Write write) {
      Map<String, Integer> versions = new HashMap<>();
      for (Rows<Changed> rows : changed) {
        for (Changed row : rows.list()) {
          if (row.sink() == write.sink()) {
            versions.put(row.key(), row.version());
          }
        }
      }
      Set<String> wanted = new HashSet<>(write.progress().freed().keySet());
      write.progress().blocked().forEach(one -> wanted.add(one.key));
      // A new row whose version is not the first was there before.
      boolean met =
          write.progress().blocked().stream()
              .anyMatch(one -> one.version == 0 && versions.getOrDefault(one.key, 1) != 1);
      boolean conflict =
          met || !advanced.list().contains(write.sink()) || !versions.keySet().containsAll(wanted);
      return new Written(versions, conflict);
    }
  }
}
