package dev.lockstep.bench;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The documents' claim, in batches: {@code FOR UPDATE SKIP LOCKED}, written as "processing" and
 * committed; then each batch is deleted, version by version, and committed again.
 */
final class ClaimQueue implements JobQueue {
  static final int WORKERS = 2;
  private static final int BATCH = 1_000;

  private static final String CLAIM =
      """
      UPDATE claim.event e SET state = 1, version = version + 1
      FROM (SELECT id FROM claim.event WHERE state = 0 AND due <= now()
            ORDER BY due, id LIMIT ? FOR UPDATE SKIP LOCKED) c
      WHERE e.id = c.id RETURNING e.id, e.version, e.kind, e.payload""";
  private static final String DELETE =
      """
      DELETE FROM claim.event e USING unnest(?, ?) AS x (id, version)
      WHERE e.id = x.id AND e.version = x.version AND e.state = 1""";

  private final BenchDatabase database;

  private ClaimQueue(BenchDatabase database) {
    this.database = database;
  }

  static ClaimQueue create(BenchDatabase database) throws SQLException {
    database.execute(
        """
        CREATE SCHEMA claim;
        CREATE TABLE claim.event (
          id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          queue text NOT NULL, due timestamptz NOT NULL, kind text NOT NULL, payload json NOT NULL,
          state smallint NOT NULL DEFAULT 0, version int NOT NULL DEFAULT 1);
        CREATE INDEX event_due ON claim.event (due, id) WHERE state = 0""");
    return new ClaimQueue(database);
  }

  @Override
  public void fill(int jobs) throws SQLException {
    database.execute(
        """
        INSERT INTO claim.event (queue, due, kind, payload)
        SELECT 'bench', now(), 'nothing', to_json(n) FROM generate_series(1, %d) n"""
            .formatted(jobs));
  }

  @Override
  public AutoCloseable work(Runnable job) {
    return Batches.start(
        database.pool(), Collections.nCopies(WORKERS, connection -> batch(connection, job)));
  }

  private static int batch(Connection connection, Runnable job) throws SQLException {
    List<Long> ids = new ArrayList<>(BATCH);
    List<Integer> versions = new ArrayList<>(BATCH);
    try (PreparedStatement claim = connection.prepareStatement(CLAIM)) {
      claim.setInt(1, BATCH);
      try (ResultSet row = claim.executeQuery()) {
        while (row.next()) {
          ids.add(row.getLong(1));
          versions.add(row.getInt(2));
        }
      }
    }
    connection.commit();
    ids.forEach(id -> job.run());
    try (PreparedStatement delete = connection.prepareStatement(DELETE)) {
      Array idArray = connection.createArrayOf("int8", ids.toArray());
      Array versionArray = connection.createArrayOf("int4", versions.toArray());
      delete.setArray(1, idArray);
      delete.setArray(2, versionArray);
      delete.executeUpdate();
    }
    connection.commit();
    return ids.size();
  }

  @Override
  public long left() throws SQLException {
    return database.number("SELECT count(*) FROM claim.event");
  }
}
