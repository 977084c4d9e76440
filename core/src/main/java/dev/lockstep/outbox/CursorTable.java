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
import java.util.Arrays;
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
 * The cursors and the keys they pass by, as their owner reads and writes them. Everything is fenced
 * by the partition's epoch, and whatever is written by the server's incarnation, too ({@link
 * Home}): what was seen before a crash must not be written after it. Each method is a transaction
 * of its own.
 */
final class CursorTable {
  private static final String HOLDS = "SELECT 1 WHERE " + Lease.FENCE;

  private static final String FENCE = Home.SAME_INCARNATION + " AND " + Lease.FENCE;

  private static final String INCARNATION = "SELECT COALESCE(" + Home.INCARNATION + ", '')";
  private static final String LOAD =
      """
      SELECT c.sink, c.version, c.delivered, c.done::text, c.target::text, c.ord::text, c.id,
        c.replay_seq, c.replay_to::text,
        COALESCE((SELECT o.orders FROM lockstep.outbox_order o
                  WHERE o.part = c.part AND o.sink = c.sink), 0)
      FROM lockstep.outbox_cursor c WHERE c.part = ? AND c.sink = ANY (?::integer[]) AND\s"""
          + Lease.FENCE;
  private static final String LOAD_BLOCKED =
      """
      SELECT sink, version, key, seq, ord::text, attempts, error,
        (EXTRACT(epoch FROM retry_at - now()) * 1000)::bigint
      FROM lockstep.outbox_parked WHERE part = ? AND sink = ANY (?::integer[]) AND\s"""
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
          .formatted(FENCE);

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
          .formatted(FENCE);
  private static final String MOVE =
      """
      UPDATE lockstep.outbox_parked o
      SET seq = x.seq, ord = x.ord, attempts = x.attempts, error = x.error,
        retry_at = now() + x.retry_ms * interval '1 millisecond', version = o.version + 1
      FROM unnest(?::integer[], ?::text[], ?::bigint[], ?::xid8[], ?::integer[], ?::text[],
        ?::bigint[], ?::integer[]) x(sink, key, seq, ord, attempts, error, retry_ms, version)
      WHERE o.part = ? AND o.sink = x.sink AND o.key = x.key AND o.version = x.version AND %s
      RETURNING o.sink, o.key, o.version"""
          .formatted(FENCE);
  private static final String FREE =
      """
      DELETE FROM lockstep.outbox_parked o
      USING unnest(?::integer[], ?::text[], ?::integer[]) x(sink, key, version)
      WHERE o.part = ? AND o.sink = x.sink AND o.key = x.key AND o.version = x.version AND %s
      RETURNING o.sink, o.key, o.version"""
          .formatted(FENCE);

  // A cursor that is lost in a crash of the database only means that events are sent again.
  private static final String NO_FLUSH = "SET LOCAL synchronous_commit = off";

  private final Transactor transactor;
  private final TxOptions options;

  CursorTable(Transactor transactor) {
    this.transactor = transactor;
    this.options = transactor.defaults().withLabel("outbox cursor").withPointLookups();
  }

  /**
   * A cursor as it was read, with the keys it passes by.
   *
   * @param orders that operators have given for it
   */
  record Loaded(
      int sink, int version, long delivered, Position at, long orders, List<Blocked> blocked) {}

  /**
   * Cursors as they were read.
   *
   * @param incarnation under which their positions mean something; empty: none
   */
  record Load(String incarnation, Map<Lease, List<Loaded>> cursors) {}

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

  /**
   * Cursors of sinks in partitions; nothing of a partition whose lease is over. What operators have
   * ordered is counted first: a key that one changes meanwhile is then read again.
   */
  Load load(Map<Lease, List<Integer>> sinks, long nowNanos) {
    return transactor.call(
        options,
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          Rows<String> incarnation = trip.query(INCARNATION, row -> row.getString(1));
          Map<Lease, Rows<Loaded>> cursors = new LinkedHashMap<>();
          Map<Lease, Rows<Map.Entry<Integer, Blocked>>> blocked = new HashMap<>();
          for (Lease lease : sorted(List.copyOf(sinks.keySet()))) {
            lease.bound(trip);
            Object[] which =
                lease.fenced(
                    (short) lease.shard(),
                    SqlArray.integers(Objects.requireNonNull(sinks.get(lease))));
            cursors.put(lease, trip.query(LOAD, CursorTable::cursor, which));
            blocked.put(lease, trip.query(LOAD_BLOCKED, row -> blocked(row, nowNanos), which));
          }
          trip.send();
          Map<Lease, List<Loaded>> all = new HashMap<>();
          cursors.forEach((lease, rows) -> all.put(lease, withBlocked(rows, blocked.get(lease))));
          return new Load(incarnation.list().get(0), all);
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
    return new Loaded(
        row.getInt(1), row.getInt(2), row.getLong(3), at, row.getLong(10), new ArrayList<>());
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

  /**
   * Writes progress of any number of lanes: partitions in order, each with its own fence.
   *
   * @param incarnation under which all of it was seen
   */
  List<Written> write(String incarnation, List<Write> writes, long nowNanos) {
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
            added.put(lease, new OfLease(trip, lease, incarnation, own, nowNanos));
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
    private final RoundTrip trip;
    private final Lease lease;
    private final String incarnation;
    private final Rows<Integer> advanced;
    private final List<Rows<Changed>> changed = new ArrayList<>();

    OfLease(RoundTrip trip, Lease lease, String incarnation, List<Write> writes, long nowNanos) {
      this.trip = trip;
      this.lease = lease;
      this.incarnation = incarnation;
      advanced = advance(writes);
      List<Row> rows = new ArrayList<>();
      List<Changed> freed = new ArrayList<>();
      for (Write write : writes) {
        write.progress().blocked().forEach(one -> rows.add(new Row(write.sink(), one)));
        write
            .progress()
            .freed()
            .forEach((key, version) -> freed.add(new Changed(write.sink(), key, version)));
      }
      block(rows.stream().filter(row -> row.one().version == 0).toList(), nowNanos);
      move(rows.stream().filter(row -> row.one().version > 0).toList(), nowNanos);
      free(freed);
    }

    /** A statement's own parameters, then those of both fences. */
    private Object[] fenced(Object... own) {
      Object[] all = Arrays.copyOf(own, own.length + 1);
      all[own.length] = incarnation;
      return lease.fenced(all);
    }

    private record Row(int sink, Blocked one) {
      @Nullable Long retryMs(long nowNanos) {
        return one.isParked() ? null : one.retryInNanos(nowNanos) / 1_000_000;
      }
    }

    private Rows<Integer> advance(List<Write> writes) {
      List<Position> to = writes.stream().map(write -> write.progress().reached()).toList();
      return trip.query(
          ADVANCE,
          row -> row.getInt(1),
          fenced(
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

    private void block(List<Row> rows, long nowNanos) {
      if (!rows.isEmpty()) {
        List<Object> values = new ArrayList<>();
        values.add((short) lease.shard());
        values.addAll(columns(rows, nowNanos));
        changed.add(trip.query(BLOCK, OfLease::changed, fenced(values.toArray())));
      }
    }

    private void move(List<Row> rows, long nowNanos) {
      if (!rows.isEmpty()) {
        List<Object> values = columns(rows, nowNanos);
        values.add(SqlArray.integers(rows.stream().map(row -> row.one().version).toList()));
        values.add((short) lease.shard());
        changed.add(trip.query(MOVE, OfLease::changed, fenced(values.toArray())));
      }
    }

    private void free(List<Changed> rows) {
      if (!rows.isEmpty()) {
        changed.add(
            trip.query(
                FREE,
                OfLease::changed,
                fenced(
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
