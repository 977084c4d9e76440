package dev.lockstep.shard;

import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * The number of shards that a group has, for those who write what its owners read: work that was
 * spread over another number would lie where nobody looks. Asked on the caller's connection until
 * the answer is certain, which costs the first uses a crossing of the network; never commits.
 * Thread-safe.
 */
public final class ShardCount {
  // Whether it is certain: one that this very transaction wrote may be rolled back. A row of this
  // transaction, or of a savepoint in it, is no older than the transaction is.
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
   * To be called before something is written for a shard. Whoever comes first decides the number,
   * with the caller's COMMIT; others who come at that moment wait for it.
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
   * As {@link #agree}, where nothing is written yet that would have to agree.
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
    return ("The group '%s' has %d shards in this database, which never changes; this node is set"
            + " to %d. Set it to %d")
        .formatted(group, actual, asked, actual);
  }
}
