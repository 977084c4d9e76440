package dev.lockstep.shard;

import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * The agreed number of shards of a group, for code that writes what its owners read: work spread
 * over another number would never be found. Each use checks it on the caller's connection until it
 * is certain. Never commits. Thread-safe.
 */
public final class ShardCount {
  // age(xmin) > 0 tells whether it is certain: a row written by this transaction, or by a savepoint
  // in it, may be rolled back, and is no older than the transaction.
  private static final String READ =
      """
      SELECT shards, age(xmin) > 0 FROM lockstep.shard_group WHERE shard_group = ?""";

  private final String group;
  private final int shards;
  private volatile boolean certain;

  ShardCount(String group, int shards) {
    this.group = group;
    this.shards = shards;
  }

  private record Found(int shards, boolean certain) {
    static Found read(ResultSet row) throws SQLException {
      return new Found(row.getInt(1), row.getBoolean(2));
    }
  }

  /**
   * Call before writing anything for a shard. The first caller fixes the number with its COMMIT;
   * concurrent callers wait for it.
   *
   * @throws IllegalStateException if the group has another number
   */
  public void agree(Connection connection) throws SQLException {
    if (certain || isThere(connection)) {
      return;
    }
    RoundTrip trip = new RoundTrip(connection);
    trip.update(ShardTable.CREATE_GROUP, group, (short) shards);
    trip.send();
    boolean unused = isThere(connection);
  }

  /**
   * Like {@link #agree}, but fixes nothing: for calls that do not write for a shard.
   *
   * @throws IllegalStateException if the group has another number
   */
  public void requireAgreed(Connection connection) throws SQLException {
    boolean unused = certain || isThere(connection);
  }

  private boolean isThere(Connection connection) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Found> found = trip.query(READ, Found::read, group);
    trip.send();
    for (Found one : found.list()) {
      if (one.shards() != shards) {
        throw new IllegalStateException(mismatch(group, one.shards(), shards));
      }
      certain = one.certain();
    }
    return !found.list().isEmpty();
  }

  static String mismatch(String group, int actual, int asked) {
    return ("Group '%s' has %d shards in this database, which cannot change; this node is set"
            + " to %d. Set it to %d")
        .formatted(group, actual, asked, actual);
  }
}
