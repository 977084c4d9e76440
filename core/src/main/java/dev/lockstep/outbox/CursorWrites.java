package dev.lockstep.outbox;

import dev.lockstep.outbox.CursorTable.Write;
import dev.lockstep.outbox.CursorTable.WriteResult;
import dev.lockstep.shard.Lease;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Adds the statements that write the sinks' progress in one partition, and reads their results. */
final class CursorWrites {
  private static final String FENCE = Incarnations.SAME + " AND " + Lease.FENCE;

  // Takes the partition's fence lock, shared only with its owner's other transactions, and locks
  // the partition's cursors. An operator's replay raises the version; then nothing is changed and
  // the cursor is loaded again.
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

  // An operator's row made meanwhile wins: it begins no later, and is loaded again. If the cursor
  // was set back for a replay, no row is inserted, because the replay would step over the key.
  private static final String BLOCK =
      """
      INSERT INTO lockstep.outbox_parked
        (part, sink, key, seq, ord, attempts, error, retry_at, parked_at)
      SELECT c.part, x.sink, x.key, x.seq, x.ord, x.attempts, x.error,
        now() + x.retry_ms * interval '1 millisecond', now()
      FROM unnest(?::integer[], ?::text[], ?::bigint[], ?::xid8[], ?::integer[], ?::text[],
          ?::bigint[], ?::integer[])
          x(sink, key, seq, ord, attempts, error, retry_ms, cursor_version)
        JOIN lockstep.outbox_cursor c ON c.sink = x.sink AND c.version = x.cursor_version
      WHERE c.part = ? AND %s
      ON CONFLICT (part, sink, key) DO NOTHING
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

  private record Changed(int sink, String key, int version) {}

  private final RoundTrip trip;
  private final Lease lease;
  private final String incarnation;
  private final Rows<Integer> advanced;
  private final List<Rows<Changed>> changed = new ArrayList<>();

  CursorWrites(RoundTrip trip, Lease lease, String incarnation, List<Write> writes, long nowNanos) {
    this.trip = trip;
    this.lease = lease;
    this.incarnation = incarnation;
    advanced = advance(writes);
    List<Row> rows = new ArrayList<>();
    List<Changed> freed = new ArrayList<>();
    for (Write write : writes) {
      write.progress().blocked().forEach(one -> rows.add(new Row(write, one)));
      write
          .progress()
          .freed()
          .forEach((key, version) -> freed.add(new Changed(write.sink(), key, version)));
    }
    block(rows.stream().filter(row -> row.one().version == 0).toList(), nowNanos);
    move(rows.stream().filter(row -> row.one().version > 0).toList(), nowNanos);
    free(freed);
  }

  /** The statement's own parameters, then those of both fences. */
  private Object[] fenced(Object... own) {
    Object[] all = Arrays.copyOf(own, own.length + 1);
    all[own.length] = incarnation;
    return lease.fenced(all);
  }

  private record Row(Write write, BlockedKey one) {
    @Nullable Long retryMs(long nowNanos) {
      return one.isParked() ? null : one.retryInNanos(nowNanos) / 1_000_000;
    }
  }

  private Rows<Integer> advance(List<Write> writes) {
    List<Object> values = new ArrayList<>();
    values.add(SqlArray.integers(writes.stream().map(Write::sink).toList()));
    values.add(SqlArray.integers(writes.stream().map(Write::version).toList()));
    values.add(SqlArray.bigints(writes.stream().map(w -> w.progress().delivered()).toList()));
    Collections.addAll(
        values,
        CursorPosition.arrays(writes.stream().map(write -> write.progress().reached()).toList()));
    values.add((short) lease.shard());
    return trip.query(ADVANCE, row -> row.getInt(1), fenced(values.toArray()));
  }

  private void block(List<Row> rows, long nowNanos) {
    if (!rows.isEmpty()) {
      List<Object> values = columns(rows, nowNanos);
      values.add(SqlArray.integers(rows.stream().map(row -> row.write().version()).toList()));
      values.add((short) lease.shard());
      changed.add(trip.query(BLOCK, CursorWrites::changed, fenced(values.toArray())));
    }
  }

  private void move(List<Row> rows, long nowNanos) {
    if (!rows.isEmpty()) {
      List<Object> values = columns(rows, nowNanos);
      values.add(SqlArray.integers(rows.stream().map(row -> row.one().version).toList()));
      values.add((short) lease.shard());
      changed.add(trip.query(MOVE, CursorWrites::changed, fenced(values.toArray())));
    }
  }

  private void free(List<Changed> rows) {
    if (!rows.isEmpty()) {
      changed.add(
          trip.query(
              FREE,
              CursorWrites::changed,
              fenced(
                  SqlArray.integers(rows.stream().map(Changed::sink).toList()),
                  SqlArray.texts(rows.stream().map(Changed::key).toList()),
                  SqlArray.integers(rows.stream().map(Changed::version).toList()),
                  (short) lease.shard())));
    }
  }

  private static List<Object> columns(List<Row> rows, long nowNanos) {
    List<Object> values = new ArrayList<>();
    values.add(SqlArray.integers(rows.stream().map(row -> row.write().sink()).toList()));
    values.add(SqlArray.texts(rows.stream().map(row -> row.one().key).toList()));
    values.add(SqlArray.bigints(rows.stream().map(row -> row.one().seq).toList()));
    values.add(
        new SqlArray("xid8", rows.stream().map(row -> row.one().ord).toArray(String[]::new)));
    values.add(SqlArray.integers(rows.stream().map(row -> row.one().attempts).toList()));
    values.add(SqlArray.texts(rows.stream().map(row -> row.one().error).toList()));
    values.add(
        new SqlArray("int8", rows.stream().map(row -> row.retryMs(nowNanos)).toArray(Long[]::new)));
    return values;
  }

  private static Changed changed(ResultSet row) throws SQLException {
    return new Changed(row.getInt(1), row.getString(2), row.getInt(3));
  }

  WriteResult written(Write write) {
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
    boolean stale = !advanced.list().contains(write.sink());
    boolean conflict = stale || !versions.keySet().containsAll(wanted);
    return new WriteResult(versions, conflict, stale, false);
  }
}
