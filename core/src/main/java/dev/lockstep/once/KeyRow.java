package dev.lockstep.once;

import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import dev.lockstep.tx.SqlFault;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Optional;

/** The statements on the row of one key, in the caller's transaction. */
final class KeyRow {
  /** How often a key may be removed under a claim's eyes before the claim gives up. */
  private static final int MAX_ROUNDS = 5;

  // Waits for a twin that is at it in another transaction: the row is either that twin's, once it
  // has committed, or ours.
  private static final String INSERT =
      """
      INSERT INTO lockstep.once (scope, owner, key, fingerprint, created_at, expires_at)
      VALUES (?, ?, ?, ?, now(), now() + ? * interval '1 millisecond')
      ON CONFLICT (scope, owner, key) DO NOTHING
      RETURNING created_at""";

  // An expired row is as good as none, even before it has been removed.
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

  // A claim that has expired may be somebody else's at any moment, who began it at another time.
  private static final String STORE =
      """
      UPDATE lockstep.once SET answer = ?
      WHERE scope = ? AND owner = ? AND key = ? AND answer IS NULL AND expires_at > now()
        AND created_at = ?""";

  private final Connection connection;
  private final OnceKey key;

  /** What a claim came to, and when the row it found or made was claimed. */
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
    throw SqlFault.conflict("The key was removed each time it was about to be read");
  }

  /** Empty if the key was there when it was to be inserted, and removed before it was read. */
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
   * A lock timeout of one millisecond within a savepoint: the wait ends, the transaction lives on.
   */
  Claim claimWithoutWaiting(Fingerprint fingerprint, Duration keepFor) throws SQLException {
    RoundTrip before = new RoundTrip(connection);
    before.update("SAVEPOINT once_claim");
    Rows<String> timeout =
        before.query("SELECT current_setting('lock_timeout')", row -> row.getString(1));
    before.update("SET LOCAL lock_timeout = 1");
    before.send();
    Claim claim;
    try {
      claim = claim(fingerprint, keepFor).claim();
    } catch (SQLException e) {
      if (SqlFault.of(e) != SqlFault.LOCK_TIMEOUT) {
        throw e;
      }
      // Takes the setting back, too.
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

  /** The row as it is, expired or not. */
  Optional<StoredKey> read() throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<StoredKey> rows = trip.query(READ, this::stored, identity());
    trip.send();
    return rows.list().stream().findFirst();
  }

  private Claimed fresh(Instant claimedAt) {
    return new Claimed(new Claim.Fresh(key, claimedAt), claimedAt);
  }

  /** False if there is no such claim to answer. */
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
