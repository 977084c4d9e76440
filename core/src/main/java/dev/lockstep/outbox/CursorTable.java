package dev.lockstep.outbox;

import dev.lockstep.fault.LockTimeout;
import dev.lockstep.outbox.DeliveryCursor.Progress;
import dev.lockstep.outbox.Streams.CursorKey;
import dev.lockstep.shard.Lease;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxOptions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes cursors and blocked keys for their owner. Every statement is fenced by the
 * partition's epoch, and every write also by the server's incarnation ({@link Incarnations}): a
 * position seen before a crash must not be written after it. Each method runs its own transaction.
 */
final class CursorTable {
  private static final String HOLDS = "SELECT 1 WHERE " + Lease.FENCE;

  private static final String INCARNATION = "SELECT COALESCE(" + Incarnations.CURRENT + ", '')";
  private static final String LOAD =
      """
      SELECT c.sink, c.version, c.delivered, c.done::text AS done, c.target::text AS target,
        c.ord::text AS ord, c.id, c.replay_seq, c.replay_to::text AS replay_to,
        COALESCE((SELECT o.orders FROM lockstep.outbox_order o
                  WHERE o.part = c.part AND o.sink = c.sink), 0) AS orders
      FROM lockstep.outbox_cursor c WHERE c.part = ? AND c.sink = ANY (?::integer[]) AND\s"""
          + Lease.FENCE;
  private static final String LOAD_BLOCKED =
      """
      SELECT sink, version, key, seq, ord::text AS ord, attempts, error,
        (EXTRACT(epoch FROM retry_at - now()) * 1000)::bigint AS retry_ms
      FROM lockstep.outbox_parked WHERE part = ? AND sink = ANY (?::integer[]) AND\s"""
          + Lease.FENCE
          + " ORDER BY parked_at, key";

  // Losing a cursor in a database crash only means that events are sent again.
  private static final String NO_FLUSH = "SET LOCAL synchronous_commit = off";

  // Operators' actions are short; do not wait for one whose transaction stays open.
  private static final Duration LOCK_TIMEOUT = Duration.ofMillis(100);

  private final Transactor transactor;
  private final TxOptions options;
  private final TxOptions hasty;

  CursorTable(Transactor transactor) {
    this.transactor = transactor;
    this.options = transactor.defaults().withLabel("outbox cursor").withIndexLookups();
    this.hasty =
        LOCK_TIMEOUT.compareTo(options.lockTimeout()) < 0
            ? options.withLockTimeout(LOCK_TIMEOUT)
            : options;
  }

  /**
   * A loaded cursor with its blocked keys.
   *
   * @param orders how many operators' actions it has seen
   */
  record CursorRow(
      int sink,
      int version,
      long delivered,
      CursorPosition at,
      long orders,
      List<BlockedKey> blocked) {}

  /**
   * The loaded cursors.
   *
   * @param incarnation the server incarnation their positions belong to; empty: none
   */
  record CursorRows(String incarnation, Map<Lease, List<CursorRow>> cursors) {}

  /** The progress of one sink in one partition. */
  record Write(Lease lease, int sink, int version, Progress progress) {}

  /**
   * The outcome of a write.
   *
   * @param versions the new versions of the keys' rows
   * @param conflict another transaction has changed something: load it again
   * @param stale the cursor was moved or belongs to another owner: not written
   * @param locked another transaction holds a lock: not written
   */
  record WriteResult(
      Map<String, Integer> versions, boolean conflict, boolean stale, boolean locked) {
    static final WriteResult LOCKED = new WriteResult(Map.of(), false, false, true);
  }

  /** Whether the database still accepts the lease. */
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
   * Loads cursors of sinks, and none for a partition whose lease is over. Reads the count of
   * operators' actions first, so that a key changed meanwhile is loaded again.
   */
  CursorRows load(Map<Lease, List<Integer>> sinks, long nowNanos) {
    return transactor.call(
        options,
        connection -> {
          RoundTrip trip = new RoundTrip(connection);
          Rows<String> incarnation = trip.query(INCARNATION, row -> row.getString(1));
          Map<Lease, Rows<CursorRow>> cursors = new LinkedHashMap<>();
          Map<Lease, Rows<Map.Entry<Integer, BlockedKey>>> blocked = new HashMap<>();
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
          Map<Lease, List<CursorRow>> all = new HashMap<>();
          cursors.forEach((lease, rows) -> all.put(lease, withBlocked(rows, blocked.get(lease))));
          return new CursorRows(incarnation.list().get(0), all);
        });
  }

  private static List<CursorRow> withBlocked(
      Rows<CursorRow> cursors, @Nullable Rows<Map.Entry<Integer, BlockedKey>> blocked) {
    if (blocked != null) {
      Map<Integer, CursorRow> bySink = new HashMap<>();
      cursors.list().forEach(cursor -> bySink.put(cursor.sink(), cursor));
      for (Map.Entry<Integer, BlockedKey> entry : blocked.list()) {
        CursorRow cursor = bySink.get(entry.getKey());
        if (cursor != null) {
          cursor.blocked().add(entry.getValue());
        }
      }
    }
    return cursors.list();
  }

  private static CursorRow cursor(ResultSet row) throws SQLException {
    CursorPosition at =
        new CursorPosition(
            row.getString("done"),
            row.getString("target"),
            row.getString("ord"),
            row.getLong("id"),
            row.getLong("replay_seq"),
            row.getString("replay_to"));
    return new CursorRow(
        row.getInt("sink"),
        row.getInt("version"),
        row.getLong("delivered"),
        at,
        row.getLong("orders"),
        new ArrayList<>());
  }

  private static Map.Entry<Integer, BlockedKey> blocked(ResultSet row, long nowNanos)
      throws SQLException {
    BlockedKey one = new BlockedKey(row.getString("key"), row.getLong("seq"), row.getString("ord"));
    one.version = row.getInt("version");
    one.attempts = row.getInt("attempts");
    one.error = row.getString("error");
    long retryMs = row.getLong("retry_ms");
    if (row.wasNull()) {
      one.park();
    } else {
      one.retryAt(nowNanos + retryMs * 1_000_000);
    }
    return Map.entry(row.getInt("sink"), one);
  }

  /**
   * Writes the progress of any number of cursors: partitions in order, each with its own fence.
   * Skips those that stay locked by other transactions.
   *
   * @param incarnation the server incarnation under which it was seen
   */
  List<WriteResult> write(String incarnation, List<Write> writes, long nowNanos) {
    try {
      return transactor.call(hasty, c -> write(c, incarnation, writes, nowNanos));
    } catch (LockTimeout e) {
      return writeUnlocked(incarnation, writes, nowNanos);
    }
  }

  /** Like {@link #write}, for cursors known to be locked: does not wait. */
  List<WriteResult> writeUnlocked(String incarnation, List<Write> writes, long nowNanos) {
    AtomicBoolean known = new AtomicBoolean();
    try {
      return transactor.call(
          hasty,
          connection -> {
            known.set(false);
            Set<CursorKey> locked = CursorLocks.lockedElsewhere(connection, writes);
            known.set(true);
            List<Write> free =
                writes.stream().filter(one -> !locked.contains(CursorLocks.at(one))).toList();
            Iterator<WriteResult> written =
                write(connection, incarnation, free, nowNanos).iterator();
            return writes.stream()
                .map(w -> locked.contains(CursorLocks.at(w)) ? WriteResult.LOCKED : written.next())
                .toList();
          });
    } catch (LockTimeout e) {
      if (writes.size() == 1 || !known.get()) {
        // Another transaction is inserting the same key for the first time, or everything is
        // locked.
        return Collections.nCopies(writes.size(), WriteResult.LOCKED);
      }
      int half = writes.size() / 2;
      List<WriteResult> all =
          new ArrayList<>(writeUnlocked(incarnation, writes.subList(0, half), nowNanos));
      all.addAll(writeUnlocked(incarnation, writes.subList(half, writes.size()), nowNanos));
      return all;
    }
  }

  private static List<WriteResult> write(
      Connection connection, String incarnation, List<Write> writes, long nowNanos)
      throws SQLException {
    List<Lease> leases = writes.stream().map(Write::lease).distinct().toList();
    RoundTrip trip = new RoundTrip(connection);
    trip.update(NO_FLUSH);
    Map<Lease, CursorWrites> added = new HashMap<>();
    for (Lease lease : sorted(leases)) {
      lease.bound(trip);
      List<Write> own = writes.stream().filter(write -> write.lease() == lease).toList();
      added.put(lease, new CursorWrites(trip, lease, incarnation, own, nowNanos));
    }
    trip.send();
    return writes.stream()
        .map(write -> Objects.requireNonNull(added.get(write.lease())).written(write))
        .toList();
  }

  private static List<Lease> sorted(List<Lease> leases) {
    return leases.stream().sorted(Comparator.comparingInt(Lease::shard)).toList();
  }
}
