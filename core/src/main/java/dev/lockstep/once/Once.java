package dev.lockstep.once;

import static java.util.Objects.requireNonNull;

import dev.lockstep.once.KeyRow.Claimed;
import dev.lockstep.sql.GuardFailed;
import dev.lockstep.sql.RoundTrip;
import dev.lockstep.sql.RoundTrip.Rows;
import dev.lockstep.sql.SqlArray;
import dev.lockstep.sql.StorableText;
import dev.lockstep.tx.Transactor;
import dev.lockstep.tx.TxWork;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes an effect happen once per idempotency key.
 *
 * <p><b>Lockstep commits</b>: {@link #call} runs your work in its own transaction.
 *
 * <p><b>You commit</b>, on your connection: first {@link #claim} or {@link #claimNow}, before any
 * other lock; then the effect; then {@link #answer}. If the transaction rolls back, the key is free
 * again. If the effect needs several transactions (with a payment in between), claim in the first
 * and answer in the last. Until then, repetitions get {@link Claim.InUse}.
 *
 * <p><b>You commit, for many keys</b>, such as in a combiner's companion: {@link #find} and {@link
 * #record}; or {@link #addFind} and {@link #addRecord} to share round trips.
 *
 * <p>Thread-safe.
 */
public final class Once {
  private static final String FIND =
      """
      SELECT %s
      FROM unnest(?, ?) AS x (owner, key)
      CROSS JOIN LATERAL (
        SELECT * FROM lockstep.once
        WHERE scope = ? AND owner = x.owner AND key = x.key OFFSET 0) o -- one lookup per key
      WHERE o.expires_at > now()"""
          .formatted(StoredKey.COLUMNS);

  // For a key in use, created_at becomes NULL, which the column refuses.
  private static final String RECORD =
      """
      INSERT INTO lockstep.once AS o (scope, owner, key, fingerprint, answer, created_at, expires_at)
      SELECT ?, x.owner, x.key, x.fingerprint, x.answer, now(), now() + ? * interval '1 millisecond'
      FROM unnest(?, ?, ?, ?) AS x (owner, key, fingerprint, answer)
      ON CONFLICT (scope, owner, key) DO UPDATE
      SET fingerprint = excluded.fingerprint, answer = excluded.answer,
          created_at = CASE WHEN o.expires_at <= excluded.created_at THEN excluded.created_at END,
          expires_at = excluded.expires_at""";

  // Small batches; skips rows that another node is removing. MATERIALIZED, because the planner may
  // run a plain IN subquery once per row, and then the limit limits nothing.
  private static final String REMOVE_EXPIRED =
      """
      WITH due AS MATERIALIZED (
        SELECT scope, owner, key FROM lockstep.once WHERE expires_at <= now()
        ORDER BY expires_at LIMIT ? FOR UPDATE SKIP LOCKED)
      DELETE FROM lockstep.once o USING due d
      WHERE o.scope = d.scope AND o.owner = d.owner AND o.key = d.key""";

  private final Transactor transactor;
  private final OnceConfig config;

  public Once(Transactor transactor) {
    this(transactor, OnceConfig.DEFAULT);
  }

  public Once(Transactor transactor, OnceConfig config) {
    this.transactor = requireNonNull(transactor, "transactor is null");
    this.config = requireNonNull(config, "config is null; pass DEFAULT");
  }

  /**
   * Claims a key; waits while a concurrent transaction holds it. The caller commits.
   *
   * @throws dev.lockstep.fault.LockTimeout if that transaction takes longer than the lock timeout
   */
  public Claim claim(Connection connection, OnceKey key, Fingerprint fingerprint) {
    requireKey(key, fingerprint);
    return transactor.join(
        connection, c -> new KeyRow(c, key).claim(fingerprint, config.keepFor()).claim());
  }

  /**
   * Claims a key, or returns {@link Claim.InUse} at once if a concurrent transaction holds it, or
   * is removing it after its expiry. The caller commits; the transaction stays usable either way.
   *
   * @throws dev.lockstep.fault.LockTimeout if the table itself stays locked longer than the lock
   *     timeout; roll back then
   */
  public Claim claimNow(Connection connection, OnceKey key, Fingerprint fingerprint) {
    requireKey(key, fingerprint);
    return transactor.join(
        connection, c -> new KeyRow(c, key).claimWithoutWaiting(fingerprint, config.keepFor()));
  }

  /**
   * Stores the answer of a claimed key. The caller commits.
   *
   * @param claim the result of {@link #claim} or {@link #claimNow}, in this transaction or an
   *     earlier one
   * @throws IllegalStateException if the claim does not exist, has expired (even if another caller
   *     has claimed the key since), or already has an answer; roll back then
   */
  public void answer(Connection connection, Claim.Fresh claim, String answer) {
    requireStorable(answer);
    if (!transactor.join(
        connection, c -> new KeyRow(c, claim.key()).store(claim.claimedAt(), answer))) {
      throw new IllegalStateException(
          "The claim does not exist, has expired or is already answered; roll back");
    }
  }

  /**
   * Runs work once in its own transaction and stores its answer; a concurrent call with the same
   * key waits. If the connection is lost during COMMIT, looks the key up to learn the outcome.
   *
   * @throws dev.lockstep.fault.LockTimeout if the concurrent call takes longer than the
   *     transactor's lock timeout
   */
  public OnceResult call(OnceKey key, Fingerprint fingerprint, TxWork<String> work) {
    requireKey(key, fingerprint);
    requireNonNull(work, "work is null");
    CallAttempts attempts = new CallAttempts(key, fingerprint, work);
    return transactor.call(
        transactor.defaults().withLabel("once").withIndexLookups(),
        attempts::attempt,
        attempts::afterLostCommit);
  }

  /** Returns what is stored for these keys of one scope; keys without a live row are left out. */
  public Map<OnceKey, Claim> find(
      Connection connection, long scope, Map<OnceKey, Fingerprint> requests) {
    return transactor.join(
        connection,
        c -> {
          RoundTrip trip = new RoundTrip(c);
          Supplier<Map<OnceKey, Claim>> found = addFind(trip, scope, requests);
          trip.send();
          return found.get();
        });
  }

  /** As {@link #find}, on the caller's trip. The supplier has the result once the trip was sent. */
  public Supplier<Map<OnceKey, Claim>> addFind(
      RoundTrip trip, long scope, Map<OnceKey, Fingerprint> requests) {
    List<OnceKey> keys = List.copyOf(requests.keySet());
    requireScope(scope, keys);
    Rows<StoredKey> rows =
        trip.query(
            FIND,
            row -> StoredKey.read(scope, row),
            SqlArray.texts(keys.stream().map(OnceKey::owner).toList()),
            SqlArray.texts(keys.stream().map(OnceKey::key).toList()),
            scope);
    return () -> {
      Map<OnceKey, Claim> found = new HashMap<>();
      for (StoredKey row : rows.list()) {
        Fingerprint asked = requests.get(row.key());
        if (asked != null) {
          found.put(row.key(), row.claimedBy(asked));
        }
      }
      return found;
    };
  }

  /**
   * Writes keys of one scope with their answers in one statement. The caller commits.
   *
   * @throws dev.lockstep.fault.SerializationConflict if another transaction used one of the keys
   *     meanwhile; run again, and {@link #find} shows it
   */
  public void record(Connection connection, long scope, Collection<OnceEntry> entries) {
    transactor.runJoined(
        connection,
        c -> {
          RoundTrip trip = new RoundTrip(c);
          addRecord(trip, scope, entries);
          trip.send();
        });
  }

  /**
   * As {@link #record}, on the caller's trip, which may be deferred. The trip fails if one of the
   * keys is in use.
   */
  public void addRecord(RoundTrip trip, long scope, Collection<OnceEntry> entries) {
    SortedMap<OnceKey, OnceEntry> sorted = new TreeMap<>();
    for (OnceEntry entry : entries) {
      requireStorable(entry.answer());
      if (sorted.put(entry.key(), entry) != null) {
        throw new IllegalArgumentException("Record each key once; one of them appears twice");
      }
    }
    requireScope(scope, sorted.keySet());
    List<OnceEntry> rows = List.copyOf(sorted.values());
    trip.guarded(Once::orConflict, guarded -> addRecord(guarded, scope, rows));
  }

  private void addRecord(RoundTrip trip, long scope, List<OnceEntry> rows) {
    trip.update(
        RECORD,
        scope,
        config.keepFor().toMillis(),
        SqlArray.texts(rows.stream().map(entry -> entry.key().owner()).toList()),
        SqlArray.texts(rows.stream().map(entry -> entry.key().key()).toList()),
        new SqlArray(
            "bytea",
            // The driver accepts a byte[][], but not an Object[] of byte arrays.
            rows.stream().map(entry -> entry.fingerprint().bytes()).toArray(byte[][]::new)),
        SqlArray.texts(rows.stream().map(OnceEntry::answer).toList()));
  }

  private static SQLException orConflict(SQLException thrown) {
    return GuardFailed.orConflict(
        thrown, "Another transaction used one of the idempotency keys; run again");
  }

  /**
   * Removes expired keys in small transactions; several nodes may do so at once.
   *
   * @return how many this call removed
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

  /** One {@link Once#call}, across all attempts of its transaction. */
  private final class CallAttempts {
    private final OnceKey key;
    private final Fingerprint fingerprint;
    private final TxWork<String> work;
    // From the latest attempt, the one whose COMMIT may be in doubt.
    private @Nullable OnceResult result;
    private Instant claimedAt = Instant.MIN;

    CallAttempts(OnceKey key, Fingerprint fingerprint, TxWork<String> work) {
      this.key = key;
      this.fingerprint = fingerprint;
      this.work = work;
    }

    OnceResult attempt(Connection connection) throws SQLException {
      Claimed claimed = new KeyRow(connection, key).claim(fingerprint, config.keepFor());
      claimedAt = claimed.createdAt();
      OnceResult decided = resultOf(claimed.claim(), connection);
      result = decided;
      return decided;
    }

    private OnceResult resultOf(Claim claim, Connection connection) throws SQLException {
      if (claim instanceof Claim.Answered answered) {
        return new OnceResult.Completed(answered.answer(), true);
      }
      if (claim instanceof OnceResult refused) {
        return refused;
      }
      String answer = work.run(connection);
      answer(connection, (Claim.Fresh) claim, answer);
      return new OnceResult.Completed(answer, false);
    }

    /**
     * Settles a lost COMMIT. A result that was only read stands, whatever happened to the
     * transaction. An effect exists if its key does. If the key was claimed at another time, the
     * effect is a concurrent call's, and ours was rolled back.
     */
    Optional<OnceResult> afterLostCommit(Connection connection) throws SQLException {
      if (!(result instanceof OnceResult.Completed done) || done.replayed()) {
        return Optional.ofNullable(result);
      }
      return new KeyRow(connection, key)
          .read()
          .flatMap(
              row ->
                  row.claimedBy(fingerprint) instanceof Claim.Answered answered
                      ? Optional.of(
                          new OnceResult.Completed(
                              answered.answer(), !row.createdAt().equals(claimedAt)))
                      : Optional.empty());
    }
  }

  private static void requireKey(OnceKey key, Fingerprint fingerprint) {
    requireNonNull(key, "key is null");
    requireNonNull(fingerprint, "fingerprint is null; make one of what identifies the request");
  }

  private void requireStorable(String answer) {
    if (answer.length() > config.maxAnswerLength() || !StorableText.is(answer)) {
      throw new IllegalArgumentException(
          "An answer may have up to %d characters, without NUL and unpaired surrogates"
              .formatted(config.maxAnswerLength()));
    }
  }

  private static void requireScope(long scope, Collection<OnceKey> keys) {
    if (keys.stream().anyMatch(key -> key.scope() != scope)) {
      throw new IllegalArgumentException("All keys of one call must belong to its scope");
    }
  }
}
