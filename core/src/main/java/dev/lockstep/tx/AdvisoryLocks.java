package dev.lockstep.tx;

import dev.lockstep.sql.DerivedId;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.Sha256;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;

/**
 * Takes advisory locks by name, held until the transaction ends, so a pooler in transaction mode
 * cannot strand one. Names are hashed to 64 bits (SHA-256, truncated). If two names collide, their
 * holders wait for each other; a lock is never missed.
 *
 * <p>Every method runs on the caller's connection, inside the caller's transaction.
 */
public final class AdvisoryLocks {
  private static final String WAIT = "SELECT pg_advisory_xact_lock(?)";
  private static final String TRY = "SELECT pg_try_advisory_xact_lock(?)";
  // The function runs row by row in array order, and the array is sorted: two callers of lockAll
  // cannot deadlock with each other. count() forces every row: a driver that fetches in portions
  // would otherwise take only the first portion of the locks.
  private static final String WAIT_ALL =
      "SELECT count(pg_advisory_xact_lock(key)) FROM unnest(?::bigint[]) AS key";

  private AdvisoryLocks() {}

  /** Waits for the lock, at most the transaction's lock timeout. */
  public static void lock(Connection connection, String name) throws SQLException {
    try (PreparedStatement statement = prepare(connection, WAIT)) {
      statement.setLong(1, keyOf(name));
      statement.execute();
    }
  }

  /** Takes the lock if it is free; never waits. */
  public static boolean tryLock(Connection connection, String name) throws SQLException {
    try (PreparedStatement statement = prepare(connection, TRY)) {
      statement.setLong(1, keyOf(name));
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        return row.getBoolean(1);
      }
    }
  }

  /** Waits for all locks. Takes them in one fixed order, whatever the order of the names. */
  public static void lockAll(Connection connection, Collection<String> names) throws SQLException {
    Long[] keys = names.stream().map(AdvisoryLocks::keyOf).sorted().distinct().toArray(Long[]::new);
    try (PreparedStatement statement = prepare(connection, WAIT_ALL)) {
      statement.setArray(1, connection.createArrayOf("bigint", keys));
      statement.execute();
    }
  }

  /**
   * Returns the 64-bit key of a name, the same in every process and version.
   *
   * @throws IllegalArgumentException if the name contains an unpaired surrogate
   */
  public static long keyOf(String name) {
    MessageDigest digest = Sha256.digest();
    digest.update(DerivedId.utf8(name));
    return ByteBuffer.wrap(digest.digest()).getLong();
  }

  private static PreparedStatement prepare(Connection connection, String sql) throws SQLException {
    if (connection.getAutoCommit()) {
      throw new IllegalStateException(
          "The connection is in auto-commit mode, which would release the lock at once; begin a"
              + " transaction first");
    }
    return RoundTrip.prepareWhole(connection, sql);
  }
}
