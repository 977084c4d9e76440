package dev.lockstep.once;

import dev.lockstep.fault.SqlFault;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Optional;

/** The statements on one key's row, in the caller's transaction. */
final class KeyRow {
  /** How often the row may vanish between insert and read before the claim gives up. */
  private static final int MAX_ROUNDS = 5;

  // Waits for a concurrent claim in another transaction. Afterwards the row is that claim's, if it
  // committed, or ours.
  private static final String INSERT =
      """
      INSERT INTO lockstep.once (scope, owner, key, fingerprint, created_at, expires_at)
      VALUES (?, ?, ?, ?, now(), now() + ? * interval '1 millisecond')
      ON CONFLICT (scope, owner, key) DO NOTHING
      RETURNING created_at""";

  // An expired row counts as none, even before it is removed.
  private static final String TAKE_OVER_EXPIRED =
      """
      UPDATE lockstep.once
      SET fingerprint = ?, answer = NULL, created_at = now(),
          expires_at = now() + ? * interval '1 millisecond'
      WHERE scope = ? AND owner = ? AND key = ? AND expires_at <= now()
      RETURNING created_at""";

  private static final String READ_LIVE =
      """
      SELECT %s FROM lockstep.once o
      WHERE o.scope = ? AND o.owner = ? AND o.key = ? AND o.expires_at > now()"""
          .formatted(StoredKey.COLUMNS);

  private static final String READ =
      "SELECT %s FROM lockstep.once o WHERE o.scope = ? AND o.owner = ? AND o.key = ?"
          .formatted(StoredKey.COLUMNS);

  // An expired claim may have been taken over; created_at tells the two claims apart.
  private static final String STORE =
      """
      UPDATE lockstep.once SET answer = ?
      WHERE scope = ? AND owner = ? AND key = ? AND answer IS NULL AND expires_at > now()
        AND created_at = ?""";

  private final Connection connection;
  private final OnceKey key;

  /** A claim's result, and when the row it found or inserted was claimed. */
  record Claimed(Claim claim, Instant createdAt) {}

  KeyRow(Connection connection, OnceKey key) {
    this.connection = connection;
    this.key = key;
  }

  Claimed claim(Fingerprint fingerprint, Duration keepFor) throws SQLException {
    for (int round = 1; round <= MAX_ROUNDS; round++) {
      Optional<Claimed> claimed = tryClaim(fingerprint, keepFor.toMillis());
      if (claimed.isPresent()) {
        return claimed.get();
      }
    }
    throw SqlFault.conflict(
        "The key expired and was removed during each attempt to claim it; run again");
  }

  /** Empty if the key existed at the insert and was removed before the read. */
  private Optional<Claimed> tryClaim(Fingerprint fingerprint, long keepMs) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Instant> inserted =
        trip.query(
            INSERT,
            KeyRow::instant,
            key.scope(),
            key.owner(),
            key.key(),
            fingerprint.bytes(),
            keepMs);
    trip.send();
    if (!inserted.list().isEmpty()) {
      return Optional.of(fresh(inserted.list().get(0)));
    }
    RoundTrip second = new RoundTrip(connection);
    Rows<Instant> takenOver =
        second.query(
            TAKE_OVER_EXPIRED,
            KeyRow::instant,
            fingerprint.bytes(),
            keepMs,
            key.scope(),
            key.owner(),
            key.key());
    Rows<StoredKey> stored = second.query(READ_LIVE, this::stored, identity());
    second.send();
    if (!takenOver.list().isEmpty()) {
      return Optional.of(fresh(takenOver.list().get(0)));
    }
    return stored.list().stream()
        .map(row -> new Claimed(row.claimedBy(fingerprint), row.createdAt()))
        .findFirst();
  }

  /**
   * Claims with a lock timeout of one millisecond, inside a savepoint: if the wait is cut, the
   * transaction stays usable. Locks the table first, with the caller's timeout, so that only
   * another claim of the key can cut the wait, not an index build or a migration.
   */
  Claim claimWithoutWaiting(Fingerprint fingerprint, Duration keepFor) throws SQLException {
    RoundTrip before = new RoundTrip(connection);
    before.update("SAVEPOINT once_claim");
    Rows<String> timeout =
        before.query("SELECT current_setting('lock_timeout')", row -> row.getString(1));
    before.update("LOCK TABLE lockstep.once IN ROW EXCLUSIVE MODE");
    before.update("SET LOCAL lock_timeout = 1");
    before.send();
    Claim claim;
    try {
      claim = claim(fingerprint, keepFor).claim();
    } catch (SQLException e) {
      if (SqlFault.of(e) != SqlFault.LOCK_TIMEOUT) {
        throw e;
      }
      // Also restores lock_timeout.
      RoundTrip undo = new RoundTrip(connection);
      undo.update("ROLLBACK TO SAVEPOINT once_claim");
      undo.update("RELEASE SAVEPOINT once_claim");
      undo.send();
      return new Claim.InUse();
    }
    RoundTrip after = new RoundTrip(connection);
    after.query(
        "SELECT set_config('lock_timeout', ?, true)",
        row -> row.getString(1),
        timeout.list().get(0));
    after.update("RELEASE SAVEPOINT once_claim");
    after.send();
    return claim;
  }

  /** Reads the row, expired or not. */
  Optional<StoredKey> read() throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<StoredKey> rows = trip.query(READ, this::stored, identity());
    trip.send();
    return rows.list().stream().findFirst();
  }

  private Claimed fresh(Instant claimedAt) {
    return new Claimed(new Claim.Fresh(key, claimedAt), claimedAt);
  }

  /** Stores the answer. False if there is no such open claim. */
  boolean store(Instant claimedAt, String answer) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Object> rows =
        trip.update(
            STORE, answer, key.scope(), key.owner(), key.key(), claimedAt.atOffset(ZoneOffset.UTC));
    trip.send();
    return rows.changed() == 1;
  }

  private Object[] identity() {
    return new Object[] {key.scope(), key.owner(), key.key()};
  }

  private StoredKey stored(ResultSet row) throws SQLException {
    return StoredKey.read(key.scope(), row);
  }

  private static Instant instant(ResultSet row) throws SQLException {
    return row.getObject(1, OffsetDateTime.class).toInstant();
  }
}
