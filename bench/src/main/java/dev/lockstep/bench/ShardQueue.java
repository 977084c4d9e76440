package dev.lockstep.bench;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.List;

/**
 * The ceiling: each thread reads its own shards and deletes what it has read, from a minimal table.
 * No lease, fence, version, lane, priority or retry.
 */
final class ShardQueue implements JobQueue {
  static final int WORKERS = 2;
  private static final int SHARDS = 16;
  private static final int BATCH = 1_000;
  // A shard's jobs lie together in the table, as Lockstep's do.
  private static final int RUN = 64;

  private static final String READ =
      """
      SELECT due, id, kind, payload FROM ceiling.job
      WHERE shard = ? AND due <= now() AND (due, id) > (?, ?) ORDER BY due, id LIMIT ?""";
  private static final String DELETE =
      """
      DELETE FROM ceiling.job WHERE shard = ? AND (due, id) IN (SELECT * FROM unnest(?, ?))""";

  private final BenchDatabase database;

  private ShardQueue(BenchDatabase database) {
    this.database = database;
  }

  static ShardQueue create(BenchDatabase database) throws SQLException {
    database.execute(
        """
        CREATE SCHEMA ceiling;
        CREATE TABLE ceiling.job (
          shard smallint NOT NULL, due timestamptz NOT NULL, id bigint NOT NULL,
          queue text NOT NULL, kind text NOT NULL, payload json NOT NULL,
          PRIMARY KEY (shard, due, id))""");
    return new ShardQueue(database);
  }

  @Override
  public void fill(int jobs) throws SQLException {
    database.execute(
        """
        INSERT INTO ceiling.job (shard, due, id, queue, kind, payload)
        SELECT n / %d %% %d, now(), n, 'bench', 'nothing', to_json(n)
        FROM generate_series(1, %d) n"""
            .formatted(RUN, SHARDS, jobs));
  }

  /** A shard, and how far it has been read. */
  private static final class Cursor {
    final short shard;
    Timestamp due = new Timestamp(0);
    long id;

    Cursor(int shard) {
      this.shard = (short) shard;
    }
  }

  @Override
  public AutoCloseable work(Runnable job) {
    List<Batches.Batch> each = new ArrayList<>();
    for (int worker = 0; worker < WORKERS; worker++) {
      List<Cursor> own = new ArrayList<>();
      for (int shard = worker; shard < SHARDS; shard += WORKERS) {
        own.add(new Cursor(shard));
      }
      each.add(
          connection -> {
            int done = 0;
            for (Cursor cursor : own) {
              done += batch(connection, cursor, job);
            }
            return done;
          });
    }
    return Batches.start(database.pool(), each);
  }

  private static int batch(Connection connection, Cursor cursor, Runnable job) throws SQLException {
    List<Timestamp> due = new ArrayList<>(BATCH);
    List<Long> ids = new ArrayList<>(BATCH);
    try (PreparedStatement read = connection.prepareStatement(READ)) {
      read.setShort(1, cursor.shard);
      read.setTimestamp(2, cursor.due);
      read.setLong(3, cursor.id);
      read.setInt(4, BATCH);
      try (ResultSet row = read.executeQuery()) {
        while (row.next()) {
          due.add(row.getTimestamp(1));
          ids.add(row.getLong(2));
        }
      }
    }
    if (ids.isEmpty()) {
      return 0;
    }
    ids.forEach(id -> job.run());
    try (PreparedStatement delete = connection.prepareStatement(DELETE)) {
      delete.setShort(1, cursor.shard);
      delete.setArray(2, connection.createArrayOf("timestamptz", due.toArray()));
      delete.setArray(3, connection.createArrayOf("int8", ids.toArray()));
      delete.executeUpdate();
    }
    connection.commit();
    cursor.due = due.get(due.size() - 1);
    cursor.id = ids.get(ids.size() - 1);
    return ids.size();
  }

  @Override
  public long left() throws SQLException {
    return database.number("SELECT count(*) FROM ceiling.job");
  }
}
