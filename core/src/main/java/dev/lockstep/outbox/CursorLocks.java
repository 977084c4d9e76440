package dev.lockstep.outbox;

import dev.lockstep.outbox.CursorTable.Write;
import dev.lockstep.outbox.Streams.CursorKey;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Finds cursors and blocked keys that other transactions have locked, without waiting. Locks the
 * free ones in the caller's transaction.
 */
final class CursorLocks {
  private static final String CURSORS =
      """
      SELECT c.part, c.sink FROM unnest(?::smallint[], ?::integer[]) x(part, sink)
      JOIN lockstep.outbox_cursor c ON c.part = x.part AND c.sink = x.sink""";
  private static final String FREE_CURSORS = CURSORS + " FOR NO KEY UPDATE OF c SKIP LOCKED";
  private static final String KEYS =
      """
      SELECT o.part, o.sink, o.key FROM unnest(?::smallint[], ?::integer[], ?::text[]) x(part, sink, key)
      JOIN lockstep.outbox_parked o ON o.part = x.part AND o.sink = x.sink AND o.key = x.key""";
  private static final String FREE_KEYS = KEYS + " FOR UPDATE OF o SKIP LOCKED";

  private CursorLocks() {}

  private record Key(CursorKey at, String key) {}

  static CursorKey at(Write write) {
    return new CursorKey(write.lease().shard(), write.sink());
  }

  /** Returns the cursors with a row to write that another transaction has locked. */
  static Set<CursorKey> lockedElsewhere(Connection connection, List<Write> writes)
      throws SQLException {
    List<CursorKey> cursors = writes.stream().map(CursorLocks::at).toList();
    List<Key> keys = new ArrayList<>();
    for (Write write : writes) {
      write.progress().blocked().forEach(one -> keys.add(new Key(at(write), one.key)));
      write.progress().freed().keySet().forEach(key -> keys.add(new Key(at(write), key)));
    }
    RoundTrip trip = new RoundTrip(connection);
    Object[] which = {parts(cursors), sinks(cursors)};
    List<CursorKey> ofKeys = keys.stream().map(Key::at).toList();
    Object[] whichKeys = {
      parts(ofKeys), sinks(ofKeys), SqlArray.texts(keys.stream().map(Key::key).toList())
    };
    Rows<CursorKey> there = trip.query(CURSORS, CursorLocks::at, which);
    Rows<CursorKey> free = trip.query(FREE_CURSORS, CursorLocks::at, which);
    Rows<Key> keysThere = trip.query(KEYS, CursorLocks::key, whichKeys);
    Rows<Key> freeKeys = trip.query(FREE_KEYS, CursorLocks::key, whichKeys);
    trip.send();
    Set<CursorKey> locked = new HashSet<>(there.list());
    free.list().forEach(locked::remove);
    Set<Key> lockedKeys = new HashSet<>(keysThere.list());
    freeKeys.list().forEach(lockedKeys::remove);
    lockedKeys.forEach(key -> locked.add(key.at()));
    return locked;
  }

  private static SqlArray parts(List<CursorKey> cursors) {
    return SqlArray.smallints(cursors.stream().map(at -> (short) at.part()).toList());
  }

  private static SqlArray sinks(List<CursorKey> cursors) {
    return SqlArray.integers(cursors.stream().map(CursorKey::sink).toList());
  }

  private static CursorKey at(ResultSet row) throws SQLException {
    return new CursorKey(row.getInt(1), row.getInt(2));
  }

  private static Key key(ResultSet row) throws SQLException {
    return new Key(at(row), row.getString(3));
  }
}
