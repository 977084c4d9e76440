package dev.lockstep.once;

import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import dev.lockstep.tx.SqlArray;
import dev.lockstep.tx.SqlFault;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxWork;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Makes an effect happen once per idempotency key.
 *
 * <p><b>On the caller's connection</b> (the caller commits): {@link #claim} or {@link #claimNow}
 * first, before any other lock; then the effect; then {@link #answer}. If the transaction rolls
 * back, the key is free again. When the effect needs several transactions (a payment in between),
 * claim in the first and answer in the last: until then twins are told {@link Claim.InUse}.
 *
 * <p><b>In a transaction of its own</b>: {@link #run}.
 *
 * <p><b>In bulk</b>, for a combiner's companion: {@link #find} and {@link #record}.
 *
 * <p>Thread-safe.
 */
public final class Once {
  // Waits for a twin that is at it in another transaction: the row is either that twin's, once it
  // has committed, or ours.
  private static final String INSERT =
      """
      INSERT INTO lockstep.once (scope, owner, key, fingerprint, created_at, expires_at)
      VALUES (?, ?, ?, ?, now(), now() + ? * interval '1 millisecond')
      ON CONFLICT (scope, owner, key) DO NOTHING""";

  // An expired row is as good as none, even before it has been removed.
  private static final String TAKE_OVER_EXPIRED =
      """
      UPDATE lockstep.once
      SET fingerprint = ?, answer = NULL, created_at = now(),
          expires_at = now() + ? * interval '1 millisecond'
      WHERE scope = ? AND owner = ? AND key = ? AND expires_at <= now()""";

  private static final String READ =
      """
      SELECT owner, key, fingerprint, answer FROM lockstep.once
      WHERE scope = ? AND owner = ? AND key = ? AND expires_at > now()""";

  private static final String STORE =
      """
      UPDATE lockstep.once SET answer = ?
      WHERE scope = ? AND owner = ? AND key = ? AND answer IS NULL""";

  private static final String FIND =
      """
      SELECT o.owner, o.key, o.fingerprint, o.answer
      FROM unnest(?, ?) AS x (owner, key)
      JOIN lockstep.once o ON o.scope = ? AND o.owner = x.owner AND o.key = x.key
      WHERE o.expires_at > now()""";

  private static final String RECORD =
      """
      INSERT INTO lockstep.once AS o (scope, owner, key, fingerprint, answer, created_at, expires_at)
      SELECT ?, x.owner, x.key, x.fingerprint, x.answer, now(), now() + ? * interval '1 millisecond'
      FROM unnest(?, ?, ?, ?) AS x (owner, key, fingerprint, answer)
      ON CONFLICT (scope, owner, key) DO UPDATE
      SET fingerprint = excluded.fingerprint, answer = excluded.answer,
          created_at = excluded.created_at, expires_at = excluded.expires_at
      WHERE o.expires_at <= excluded.created_at""";

  // Small, and past whatever another node is removing.
  private static final String REMOVE_EXPIRED =
      """
      DELETE FROM lockstep.once WHERE (scope, owner, key) IN (
        SELECT scope, owner, key FROM lockstep.once WHERE expires_at <= now()
        ORDER BY expires_at LIMIT ? FOR UPDATE SKIP LOCKED)""";

  private final Transactor transactor;
  private final OnceConfig config;

  public Once(Transactor transactor) {
    this(transactor, OnceConfig.DEFAULT);
  }

  public Once(Transactor transactor, OnceConfig config) {
    this.transactor = transactor;
    this.config = config;
  }

  /**
   * Claims a key, waiting for a twin that is at it. The caller commits.
   *
   * @throws dev.lockstep.tx.LockTimeout if the twin takes longer than the transaction's lock
   *     timeout
   */
  public Claim claim(Connection connection, OnceKey key, Fingerprint fingerprint) {
    return transactor.on(connection, c -> claimOn(c, key, fingerprint));
  }

  /**
   * Claims a key, or says {@link Claim.InUse} at once when a twin is at it. The caller commits, and
   * the transaction stays usable either way.
   */
  public Claim claimNow(Connection connection, OnceKey key, Fingerprint fingerprint) {
    return transactor.on(connection, c -> claimWithoutWaiting(c, key, fingerprint));
  }

  /**
   * Stores the answer of a key the caller has claimed. The caller commits.
   *
   * @throws IllegalStateException if the key is not claimed, or is answered already
   */
  public void answer(Connection connection, OnceKey key, String answer) {
    requireStorable(answer);
    int stored =
        transactor.on(
            connection,
            c -> {
              RoundTrip trip = new RoundTrip(c);
              Rows<Object> rows = trip.update(STORE, answer, key.scope(), key.owner(), key.key());
              trip.send();
              return rows.changed();
            });
    if (stored != 1) {
      throw new IllegalStateException("The key is not claimed, or it has its answer already");
    }
  }

  /**
   * Runs work once in a transaction of its own and remembers its answer; a twin waits for it. A
   * connection lost during COMMIT is resolved by looking for the key.
   */
  public OnceResult run(OnceKey key, Fingerprint fingerprint, TxWork<String> work) {
    return transactor.call(
        transactor.defaults().withLabel("once").withPointLookups(),
        connection -> runOn(connection, key, fingerprint, work),
        connection -> lookUp(connection, key, fingerprint));
  }

  /** What is stored of these keys of one scope; keys without a row are left out. */
  public Map<OnceKey, Claim> find(
      Connection connection, long scope, Map<OnceKey, Fingerprint> requests) {
    return transactor.on(
        connection,
        c -> {
          List<OnceKey> keys = List.copyOf(requests.keySet());
          requireScope(scope, keys);
          RoundTrip trip = new RoundTrip(c);
          Rows<Stored> rows =
              trip.query(
                  FIND,
                  row -> stored(scope, row),
                  SqlArray.texts(keys.stream().map(OnceKey::owner).toList()),
                  SqlArray.texts(keys.stream().map(OnceKey::key).toList()),
                  scope);
          trip.send();
          Map<OnceKey, Claim> found = new HashMap<>();
          for (Stored row : rows.list()) {
            Fingerprint asked = requests.get(row.key());
            if (asked != null) {
              found.put(row.key(), row.claimedBy(asked));
            }
          }
          return found;
        });
  }

  /**
   * Writes keys of one scope with their answers in one statement. The caller commits.
   *
   * @throws dev.lockstep.tx.SerializationConflict if another transaction used one of the keys
   *     meanwhile; run again, {@link #find} shows it
   */
  public void record(Connection connection, long scope, Collection<OnceEntry> entries) {
    SortedMap<OnceKey, OnceEntry> sorted = new TreeMap<>();
    for (OnceEntry entry : entries) {
      requireStorable(entry.answer());
      if (sorted.put(entry.key(), entry) != null) {
        throw new IllegalArgumentException("A key is recorded twice");
      }
    }
    requireScope(scope, sorted.keySet());
    List<OnceEntry> rows = new ArrayList<>(sorted.values());
    transactor.runOn(connection, c -> insertAll(c, scope, rows));
  }

  /**
   * Removes expired keys in small transactions; several nodes may do so at once.
   *
   * @return how many were removed here
   */
  public int removeExpired() {
    int removed = 0;
    int batch;
    do {
      batch =
          transactor.call(
              connection -> {
                RoundTrip trip = new RoundTrip(connection);
                Rows<Object> rows = trip.update(REMOVE_EXPIRED, config.removalBatch());
                trip.send();
                return rows.changed();
              });
      removed += batch;
    } while (batch == config.removalBatch());
    return removed;
  }

  private record Stored(OnceKey key, Fingerprint fingerprint, @Nullable String answer) {
    Claim claimedBy(Fingerprint asked) {
      if (!fingerprint.equals(asked)) {
        return new Claim.Reused();
      }
      return answer == null ? new Claim.InUse() : new Claim.Answered(answer);
    }
  }

  private Claim claimOn(Connection connection, OnceKey key, Fingerprint fingerprint)
      throws SQLException {
    long keepMs = config.keepFor().toMillis();
    RoundTrip trip = new RoundTrip(connection);
    Rows<Object> inserted =
        trip.update(INSERT, key.scope(), key.owner(), key.key(), fingerprint.bytes(), keepMs);
    trip.send();
    if (inserted.changed() == 1) {
      return new Claim.Fresh();
    }
    RoundTrip second = new RoundTrip(connection);
    Rows<Object> takenOver =
        second.update(
            TAKE_OVER_EXPIRED, fingerprint.bytes(), keepMs, key.scope(), key.owner(), key.key());
    Rows<Stored> stored =
        second.query(READ, row -> stored(key.scope(), row), key.scope(), key.owner(), key.key());
    second.send();
    if (takenOver.changed() == 1) {
      return new Claim.Fresh();
    }
    if (stored.list().isEmpty()) {
      throw SqlFault.conflict("The key was removed in the moment it was read");
    }
    return stored.list().get(0).claimedBy(fingerprint);
  }

  /**
   * A lock timeout of one millisecond within a savepoint: the wait ends, the transaction lives on.
   */
  private Claim claimWithoutWaiting(Connection connection, OnceKey key, Fingerprint fingerprint)
      throws SQLException {
    RoundTrip before = new RoundTrip(connection);
    before.update("SAVEPOINT once_claim");
    Rows<String> timeout =
        before.query("SELECT current_setting('lock_timeout')", row -> row.getString(1));
    before.update("SET LOCAL lock_timeout = 1");
    before.send();
    Claim claim;
    try {
      claim = claimOn(connection, key, fingerprint);
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

  private OnceResult runOn(
      Connection connection, OnceKey key, Fingerprint fingerprint, TxWork<String> work)
      throws SQLException {
    Claim claim = claimOn(connection, key, fingerprint);
    if (claim instanceof Claim.Answered answered) {
      return new OnceResult.Done(answered.answer(), true);
    }
    if (claim instanceof Claim.InUse) {
      return new OnceResult.InUse();
    }
    if (claim instanceof Claim.Reused) {
      return new OnceResult.Reused();
    }
    String answer = work.run(connection);
    answer(connection, key, answer);
    return new OnceResult.Done(answer, false);
  }

  /** After a lost COMMIT: the key's row was written with its effect, so it tells. */
  private static Optional<OnceResult> lookUp(
      Connection connection, OnceKey key, Fingerprint fingerprint) throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Stored> rows =
        trip.query(READ, row -> stored(key.scope(), row), key.scope(), key.owner(), key.key());
    trip.send();
    return rows.list().stream()
        .map(row -> row.claimedBy(fingerprint))
        .filter(Claim.Answered.class::isInstance)
        .map(Claim.Answered.class::cast)
        .<OnceResult>map(answered -> new OnceResult.Done(answered.answer(), false))
        .findFirst();
  }

  private void insertAll(Connection connection, long scope, List<OnceEntry> entries)
      throws SQLException {
    RoundTrip trip = new RoundTrip(connection);
    Rows<Object> rows =
        trip.update(
            RECORD,
            scope,
            config.keepFor().toMillis(),
            SqlArray.texts(entries.stream().map(entry -> entry.key().owner()).toList()),
            SqlArray.texts(entries.stream().map(entry -> entry.key().key()).toList()),
            new SqlArray(
                "bytea", entries.stream().map(entry -> entry.fingerprint().bytes()).toArray()),
            SqlArray.texts(entries.stream().map(OnceEntry::answer).toList()));
    trip.send();
    if (rows.changed() != entries.size()) {
      throw SqlFault.conflict("Another transaction used one of the keys meanwhile");
    }
  }

  private void requireStorable(String answer) {
    if (answer.length() > config.maxAnswerLength() || answer.indexOf('\0') >= 0) {
      throw new IllegalArgumentException(
          "An answer has up to %d characters, none of them NUL"
              .formatted(config.maxAnswerLength()));
    }
  }

  private static void requireScope(long scope, Collection<OnceKey> keys) {
    if (keys.stream().anyMatch(key -> key.scope() != scope)) {
      throw new IllegalArgumentException("All keys of one call belong to one scope");
    }
  }

  private static Stored stored(long scope, ResultSet row) throws SQLException {
    return new Stored(
        new OnceKey(scope, row.getString(1), row.getString(2)),
        Fingerprint.stored(row.getBytes(3)),
        row.getString(4));
  }
}
