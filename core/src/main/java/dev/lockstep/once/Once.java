package dev.lockstep.once;

import dev.lockstep.once.KeyRow.Claimed;
import dev.lockstep.tx.RoundTrip;
import dev.lockstep.tx.RoundTrip.Rows;
import dev.lockstep.tx.SqlArray;
import dev.lockstep.tx.SqlFault;
import dev.lockstep.tx.StorableText;
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
 * <p><b>On the caller's connection</b> (the caller commits): {@link #claim} or {@link #claimNow}
 * first, before any other lock; then the effect; then {@link #answer}. If the transaction rolls
 * back, the key is free again. When the effect needs several transactions (a payment in between),
 * claim in the first and answer in the last: until then twins are told {@link Claim.InUse}.
 *
 * <p><b>In a transaction of its own</b>: {@link #run}.
 *
 * <p><b>In bulk</b>, for a combiner's companion: {@link #find} and {@link #record}; {@link
 * #addFind} and {@link #addRecord} where they are to share a crossing of the network.
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
        WHERE scope = ? AND owner = x.owner AND key = x.key OFFSET 0) o -- one look-up a key
      WHERE o.expires_at > now()"""
          .formatted(StoredKey.COLUMNS);

  // A key that is in use takes no time of creation, which the table refuses.
  private static final String RECORD =
      """
      INSERT INTO lockstep.once AS o (scope, owner, key, fingerprint, answer, created_at, expires_at)
      SELECT ?, x.owner, x.key, x.fingerprint, x.answer, now(), now() + ? * interval '1 millisecond'
      FROM unnest(?, ?, ?, ?) AS x (owner, key, fingerprint, answer)
      ON CONFLICT (scope, owner, key) DO UPDATE
      SET fingerprint = excluded.fingerprint, answer = excluded.answer,
          created_at = CASE WHEN o.expires_at <= excluded.created_at THEN excluded.created_at END,
          expires_at = excluded.expires_at""";

  // Small, and past whatever another node is removing. Fenced: as a mere subquery of IN the planner
  // may run it once a row, and then the limit limits nothing.
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
    return transactor.on(
        connection, c -> new KeyRow(c, key).claim(fingerprint, config.keepFor()).claim());
  }

  /**
   * Claims a key, or says {@link Claim.InUse} at once when a twin is at it, or an expired key is
   * being removed at this moment. The caller commits, and the transaction stays usable either way.
   */
  public Claim claimNow(Connection connection, OnceKey key, Fingerprint fingerprint) {
    return transactor.on(
        connection, c -> new KeyRow(c, key).claimWithoutWaiting(fingerprint, config.keepFor()));
  }

  /**
   * Stores the answer of a key the caller has claimed. The caller commits.
   *
   * @param claim what {@link #claim} or {@link #claimNow} gave, in this transaction or an earlier
   *     one
   * @throws IllegalStateException if the claim is not there, has expired, also when somebody else
   *     has claimed the key since, or has its answer already; roll back then
   */
  public void answer(Connection connection, Claim.Fresh claim, String answer) {
    requireStorable(answer);
    if (!transactor.on(
        connection, c -> new KeyRow(c, claim.key()).store(claim.claimedAt(), answer))) {
      throw new IllegalStateException(
          "The key is not claimed, or the claim has expired, or it has its answer already");
    }
  }

  /**
   * Runs work once in a transaction of its own and remembers its answer; a twin waits for it. A
   * connection lost during COMMIT is resolved by looking for the key.
   *
   * @throws dev.lockstep.tx.LockTimeout if a twin takes longer than the transactor's lock timeout
   */
  public OnceResult run(OnceKey key, Fingerprint fingerprint, TxWork<String> work) {
    Run run = new Run(key, fingerprint, work);
    return transactor.call(
        transactor.defaults().withLabel("once").withPointLookups(),
        run::attempt,
        run::afterLostCommit);
  }

  /** What is stored of these keys of one scope; keys without a row are left out. */
  public Map<OnceKey, Claim> find(
      Connection connection, long scope, Map<OnceKey, Fingerprint> requests) {
    return transactor.on(
        connection,
        c -> {
          RoundTrip trip = new RoundTrip(c);
          Supplier<Map<OnceKey, Claim>> found = addFind(trip, scope, requests);
          trip.send();
          return found.get();
        });
  }

  /** As {@link #find}, on a trip of the caller's. What is found is there when it was sent. */
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
   * @throws dev.lockstep.tx.SerializationConflict if another transaction used one of the keys
   *     meanwhile; run again, {@link #find} shows it
   */
  public void record(Connection connection, long scope, Collection<OnceEntry> entries) {
    transactor.runOn(
        connection,
        c -> {
          RoundTrip trip = new RoundTrip(c);
          addRecord(trip, scope, entries);
          trip.send();
        });
  }

  /**
   * As {@link #record}, on a trip of the caller's, which fails if one of the keys is in use, and
   * may be put off.
   */
  public void addRecord(RoundTrip trip, long scope, Collection<OnceEntry> entries) {
    SortedMap<OnceKey, OnceEntry> sorted = new TreeMap<>();
    for (OnceEntry entry : entries) {
      requireStorable(entry.answer());
      if (sorted.put(entry.key(), entry) != null) {
        throw new IllegalArgumentException("A key is recorded twice");
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
            // The driver takes an array of byte arrays, and no array of objects that are some.
            rows.stream().map(entry -> entry.fingerprint().bytes()).toArray(byte[][]::new)),
        SqlArray.texts(rows.stream().map(OnceEntry::answer).toList()));
  }

  private static SQLException orConflict(SQLException thrown) {
    return SqlFault.orConflict(thrown, "Another transaction used one of the keys meanwhile");
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

  /** One call of {@link Once#run}, over however many attempts its transaction takes. */
  private final class Run {
    private final OnceKey key;
    private final Fingerprint fingerprint;
    private final TxWork<String> work;
    // Of the latest attempt, which is the one whose COMMIT can be in doubt.
    private @Nullable OnceResult result;
    private Instant claimedAt = Instant.MIN;

    Run(OnceKey key, Fingerprint fingerprint, TxWork<String> work) {
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
        return new OnceResult.Done(answered.answer(), true);
      }
      if (claim instanceof Claim.InUse) {
        return new OnceResult.InUse();
      }
      if (claim instanceof Claim.Reused) {
        return new OnceResult.Reused();
      }
      String answer = work.run(connection);
      answer(connection, (Claim.Fresh) claim, answer);
      return new OnceResult.Done(answer, false);
    }

    /**
     * What was only read stands, whatever became of the transaction that read it. An effect is
     * there if its key is; it is a twin's, and ours was rolled back, if the key was claimed at
     * another moment.
     */
    Optional<OnceResult> afterLostCommit(Connection connection) throws SQLException {
      if (!(result instanceof OnceResult.Done done) || done.replayed()) {
        return Optional.ofNullable(result);
      }
      return new KeyRow(connection, key)
          .read()
          .flatMap(
              row ->
                  row.claimedBy(fingerprint) instanceof Claim.Answered answered
                      ? Optional.of(
                          new OnceResult.Done(
                              answered.answer(), !row.createdAt().equals(claimedAt)))
                      : Optional.empty());
    }
  }

  private void requireStorable(String answer) {
    if (answer.length() > config.maxAnswerLength() || !StorableText.is(answer)) {
      throw new IllegalArgumentException(
          "An answer has up to %d characters, none of them NUL or half a character"
              .formatted(config.maxAnswerLength()));
    }
  }

  private static void requireScope(long scope, Collection<OnceKey> keys) {
    if (keys.stream().anyMatch(key -> key.scope() != scope)) {
      throw new IllegalArgumentException("All keys of one call belong to one scope");
    }
  }
}
