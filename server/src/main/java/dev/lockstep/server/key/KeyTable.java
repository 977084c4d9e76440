package dev.lockstep.server.key;

import dev.lockstep.server.api.Principal;
import dev.lockstep.server.api.Problem;
import dev.lockstep.server.api.Role;
import dev.lockstep.server.key.KeyRow.Revoked;
import dev.lockstep.tx.Transactor;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The table of keys. Every method blocks. */
final class KeyTable {
  private static final String COLUMNS =
      "id, prefix, role, name, buyer, created_at, created_by, expires_at, revoked_at, revoked_by,"
          + " revoke_reason";

  private static final String INSERT =
      """
      INSERT INTO lockstep_server.api_key (id, hash, prefix, role, name, buyer, expires_at, created_by)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      RETURNING\s"""
          + COLUMNS;

  // The database's clock decides; the rest of the key's life is returned as a duration.
  private static final String FIND_LIVE =
      """
      SELECT id, role, buyer, created_by, extract(epoch FROM expires_at - now()) * 1000 AS lives_ms
      FROM lockstep_server.api_key
      WHERE hash = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())""";

  private static final String READ =
      "SELECT " + COLUMNS + " FROM lockstep_server.api_key WHERE id = ?";

  private static final String PAGE =
      "SELECT "
          + COLUMNS
          + """
           FROM lockstep_server.api_key
          WHERE (created_at, id) > (?, ?) AND (?::text IS NULL OR role = ?)
          ORDER BY created_at, id LIMIT ?""";

  // Revoking again changes nothing: the first time, actor and reason stay.
  private static final String REVOKE =
      """
      UPDATE lockstep_server.api_key
      SET revoke_reason = CASE WHEN revoked_at IS NULL THEN ? ELSE revoke_reason END,
        revoked_at = coalesce(revoked_at, now()), revoked_by = coalesce(revoked_by, ?)
      WHERE id = ?
      RETURNING\s"""
          + COLUMNS;

  // Found through the index on age: all visitors' keys live equally long.
  private static final String REMOVE_OLD_VISITORS =
      """
      WITH old AS MATERIALIZED (
        SELECT id FROM lockstep_server.api_key
        WHERE created_at < now() - ? * interval '1 second' AND created_by = ?
        ORDER BY created_at, id LIMIT ? FOR UPDATE SKIP LOCKED)
      DELETE FROM lockstep_server.api_key k USING old o WHERE k.id = o.id""";

  private static final int REMOVAL_BATCH = 1_000;

  // Held until commit: if two nodes start at once, one makes the first key.
  private static final String LOCK_TABLE =
      "LOCK TABLE lockstep_server.api_key IN SHARE ROW EXCLUSIVE MODE";
  private static final String HAS_OPERATOR =
      "SELECT EXISTS (SELECT 1 FROM lockstep_server.api_key WHERE role = 'operator')";

  private final Transactor transactor;

  KeyTable(Transactor transactor) {
    this.transactor = transactor;
  }

  /** A key to be created. */
  record NewKey(
      Role role, String name, Optional<String> buyer, Optional<Instant> expiresAt, String by) {}

  /**
   * A usable key.
   *
   * @param livesFor until it expires; empty means never
   */
  record Live(Principal principal, Optional<Duration> livesFor) {}

  KeyRow insert(String id, Secret secret, NewKey key) {
    return transactor.call(connection -> insert(connection, id, secret, key));
  }

  /** Makes the first operator key, unless one has ever existed. */
  boolean insertFirst(String id, Secret secret, NewKey key) {
    return transactor.call(
        connection -> {
          try (PreparedStatement lock = connection.prepareStatement(LOCK_TABLE);
              PreparedStatement exists = connection.prepareStatement(HAS_OPERATOR)) {
            lock.execute();
            try (ResultSet row = exists.executeQuery()) {
              row.next();
              if (row.getBoolean(1)) {
                return false;
              }
            }
          }
          insert(connection, id, secret, key);
          return true;
        });
  }

  Optional<Live> findLive(byte[] hash) {
    return transactor.call(
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(FIND_LIVE)) {
            statement.setBytes(1, hash);
            try (ResultSet row = statement.executeQuery()) {
              return row.next() ? Optional.of(live(row)) : Optional.empty();
            }
          }
        });
  }

  Optional<KeyRow> find(String id) {
    return one(READ, id);
  }

  Optional<KeyRow> revoke(String id, String by, @Nullable String reason) {
    return one(REVOKE, reason, by, id);
  }

  /**
   * Removes the keys made by {@code maker} that are older than {@code age}, in small transactions.
   *
   * @return how many
   */
  int removeOlderThan(Duration age, String maker) {
    int removed = 0;
    int batch;
    do {
      batch = transactor.call(connection -> removeSome(connection, age, maker));
      removed += batch;
    } while (batch == REMOVAL_BATCH);
    return removed;
  }

  private static int removeSome(Connection connection, Duration age, String maker)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(REMOVE_OLD_VISITORS)) {
      statement.setLong(1, age.toSeconds());
      statement.setString(2, maker);
      statement.setInt(3, REMOVAL_BATCH);
      return statement.executeUpdate();
    }
  }

  /** A position between keys that survives the removal of the key before it. */
  record SortKey(Instant createdAt, String id) {
    static final SortKey FIRST = new SortKey(Instant.EPOCH, "");

    static SortKey of(KeyRow row) {
      return new SortKey(row.createdAt(), row.id());
    }

    /**
     * @throws IllegalArgumentException or {@link DateTimeException} if the text is malformed
     */
    static SortKey parse(String text) {
      // Years have four digits; the database cannot store times far outside that range.
      if (!text.matches("\\d{4}-\\S{1,32} [\\x21-\\x7e]{1,64}")) {
        throw new IllegalArgumentException("a time, a space and an id");
      }
      int space = text.indexOf(' ');
      return new SortKey(Instant.parse(text.substring(0, space)), text.substring(space + 1));
    }

    @Override
    public String toString() {
      return createdAt + " " + id;
    }
  }

  List<KeyRow> page(SortKey after, @Nullable Role role, int limit) {
    return transactor.call(
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(PAGE)) {
            statement.setObject(1, after.createdAt().atOffset(ZoneOffset.UTC));
            statement.setString(2, after.id());
            statement.setString(3, role == null ? null : role.label());
            statement.setString(4, role == null ? null : role.label());
            statement.setInt(5, limit);
            List<KeyRow> keys = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
              while (row.next()) {
                keys.add(read(row));
              }
            }
            return keys;
          }
        });
  }

  private Optional<KeyRow> one(String sql, @Nullable String... parameters) {
    return transactor.call(
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
              statement.setString(i + 1, parameters[i]);
            }
            try (ResultSet row = statement.executeQuery()) {
              return row.next() ? Optional.of(read(row)) : Optional.empty();
            }
          }
        });
  }

  /**
   * The caller commits. Expiry is checked here, under the idempotency key, so that a repetition
   * after the key has expired still gets what was made.
   *
   * @throws dev.lockstep.server.api.ProblemException if it would have expired already
   */
  static KeyRow insert(Connection connection, String id, Secret secret, NewKey key)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
      statement.setString(1, id);
      statement.setBytes(2, secret.hash());
      statement.setString(3, secret.prefix());
      statement.setString(4, key.role().label());
      statement.setString(5, key.name());
      statement.setString(6, key.buyer().orElse(null));
      statement.setObject(7, key.expiresAt().map(at -> at.atOffset(ZoneOffset.UTC)).orElse(null));
      statement.setString(8, key.by());
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        KeyRow made = read(row);
        if (made.expiresAt().isPresent() && !made.expiresAt().get().isAfter(made.createdAt())) {
          throw Problem.invalid("expiresAt", "must lie in the future").asException();
        }
        return made;
      }
    }
  }

  private static Live live(ResultSet row) throws SQLException {
    Principal principal =
        new Principal(
            Role.of(row.getString("role")),
            row.getString("id"),
            Optional.ofNullable(row.getString("buyer")),
            row.getString("created_by").equals(Keys.SHOP));
    long millis = row.getLong("lives_ms");
    return new Live(
        principal, row.wasNull() ? Optional.empty() : Optional.of(Duration.ofMillis(millis)));
  }

  private static KeyRow read(ResultSet row) throws SQLException {
    return new KeyRow(
        row.getString("id"),
        row.getString("prefix"),
        Role.of(row.getString("role")),
        row.getString("name"),
        Optional.ofNullable(row.getString("buyer")),
        row.getObject("created_at", OffsetDateTime.class).toInstant(),
        row.getString("created_by"),
        instant(row, "expires_at"),
        revoked(row));
  }

  private static Optional<Revoked> revoked(ResultSet row) throws SQLException {
    Optional<Instant> at = instant(row, "revoked_at");
    return at.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new Revoked(
                at.get(),
                row.getString("revoked_by"),
                Optional.ofNullable(row.getString("revoke_reason"))));
  }

  private static Optional<Instant> instant(ResultSet row, String column) throws SQLException {
    return Optional.ofNullable(row.getObject(column, OffsetDateTime.class))
        .map(OffsetDateTime::toInstant);
  }
}
