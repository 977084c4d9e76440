package dev.lockstep.outbox;

import dev.lockstep.outbox.Lane.Progress;
import dev.lockstep.outbox.Streams.At;
import dev.lockstep.shard.Lease;
import dev.lockstep.tx.LockTimeout;
import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import dev.lockstep.tx.SqlArray;
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
 * The cursors and the keys they pass by, as their owner reads and writes them. Everything is fenced
 * by the partition's epoch, and whatever is written by the server's incarnation, too ({@link
 * Home}): what was seen before a crash must not be written after it. Each method is a transaction
 * of its own.
 */
final class CursorTable {
  private static final String HOLDS = "SELECT 1 WHERE " + Lease.FENCE;

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

  // A cursor that is lost in a crash of the database only means that events are sent again.
  private static final String NO_FLUSH = "SET LOCAL synchronous_commit = off";

  // An operator's order takes a moment; one whose transaction stays open is not waited for.
  private static final Duration LOCK_TIMEOUT = Duration.ofMillis(100);

  private final Transactor transactor;
  private final TxOptions options;
  private final TxOptions hasty;

  CursorTable(Transactor transactor) {
    this.transactor = transactor;
    this.options = transactor.defaults().withLabel("outbox cursor").withPointLookups();
    this.hasty =
        LOCK_TIMEOUT.compareTo(options.lockTimeout()) < 0
            ? options.withLockTimeout(LOCK_TIMEOUT)
            : options;
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
   * @param stale the cursor itself is another's, or was moved: nothing of it is written
   * @param locked somebody else is about to: nothing is written
   */
  record Written(Map<String, Integer> versions, boolean conflict, boolean stale, boolean locked) {
    static final Written LOCKED = new Written(Map.of(), false, false, true);
  }

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
   * Writes progress of any number of lanes: partitions in order, each with its own fence. Where
   * somebody else has locked something for long, nothing is written.
   *
   * @param incarnation under which all of it was seen
   */
  List<Written> write(String incarnation, List<Write> writes, long nowNanos) {
    try {
      return transactor.call(hasty, c -> write(c, incarnation, writes, nowNanos));
    } catch (LockTimeout e) {
      return writeUnlocked(incarnation, writes, nowNanos);
    }
  }

  /** As {@link #write}, where it is known that somebody has locked some: waits for nobody. */
  List<Written> writeUnlocked(String incarnation, List<Write> writes, long nowNanos) {
    AtomicBoolean known = new AtomicBoolean();
    try {
      return transactor.call(
          hasty,
          connection -> {
            known.set(false);
            Set<At> locked = CursorLocks.lockedElsewhere(connection, writes);
            known.set(true);
            List<Write> free =
                writes.stream().filter(one -> !locked.contains(CursorLocks.at(one))).toList();
            Iterator<Written> written = write(connection, incarnation, free, nowNanos).iterator();
            return writes.stream()
                .map(w -> locked.contains(CursorLocks.at(w)) ? Written.LOCKED : written.next())
                .toList();
          });
    } catch (LockTimeout e) {
      if (writes.size() == 1 || !known.get()) {
        // A key that somebody else is about to write for the first time; or all is locked.
        return Collections.nCopies(writes.size(), Written.LOCKED);
      }
      int half = writes.size() / 2;
      List<Written> all =
          new ArrayList<>(writeUnlocked(incarnation, writes.subList(0, half), nowNanos));
      all.addAll(writeUnlocked(incarnation, writes.subList(half, writes.size()), nowNanos));
      return all;
    }
  }

  private static List<Written> write(
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
