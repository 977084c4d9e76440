package dev.lockstep.server.api;

import dev.lockstep.once.Claim;
import dev.lockstep.once.Fingerprint;
import dev.lockstep.once.Once;
import dev.lockstep.once.OnceEntry;
import dev.lockstep.once.OnceKey;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.RoundTrip;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The idempotency keys of a batch, all of one scope: what they were used for before, in the table
 * or earlier in the batch, and what they are used for now. One read and one write, however many.
 */
public final class BatchKeys {
  private final Once once;
  private final long scope;
  private final Map<OnceKey, Fingerprint> lookedUp = new HashMap<>();
  private final Supplier<Map<OnceKey, Claim>> found;
  private @Nullable Map<OnceKey, Claim> stored;
  private final Map<OnceKey, Use> first = new HashMap<>();
  private final List<OnceEntry> entries = new ArrayList<>();

  /** A key's first use in the batch; the answer is null until a later step gives it. */
  private record Use(Fingerprint fingerprint, @Nullable Answer answer) {}

  /**
   * Adds the read to a trip. Send it before anything else is asked here.
   *
   * @param requests at least one
   */
  public BatchKeys(Once once, RoundTrip trip, List<? extends Keyed> requests) {
    this.once = once;
    this.scope = requests.get(0).key().scope();
    requests.forEach(request -> lookedUp.putIfAbsent(request.key(), request.fingerprint()));
    this.found = once.addFind(trip, scope, lookedUp);
  }

  /** What the table has under the keys. */
  public Collection<Claim> stored() {
    return storedKeys().values();
  }

  private Map<OnceKey, Claim> storedKeys() {
    Map<OnceKey, Claim> keys = stored;
    if (keys == null) {
      keys = found.get();
      stored = keys;
    }
    return keys;
  }

  /**
   * What the key was answered with before this request came; null if it was not used.
   *
   * @param parse makes the answer of what the key's row has
   */
  public @Nullable Answer earlier(Exchange exchange, Keyed request, Function<String, Answer> parse)
      throws SQLException {
    OnceKey key = request.key();
    Claim claim =
        Objects.equals(lookedUp.get(key), request.fingerprint())
            ? storedKeys().get(key)
            // Another request under the same key is in this batch, and was looked up instead.
            : once.find(exchange.connection(), scope, Map.of(key, request.fingerprint())).get(key);
    if (claim != null) {
      return StoredAnswer.of(claim, parse);
    }
    Use use = first.get(key);
    if (use == null) {
      return null;
    }
    if (!use.fingerprint().equals(request.fingerprint())) {
      return Problem.keyReused().toAnswer();
    }
    return use.answer() == null
        ? Problem.keyInUse().toAnswer()
        : StoredAnswer.replayed(use.answer());
  }

  /** The key is answered so from now on. */
  public void answer(Keyed request, Answer answer) {
    use(request, answer, StoredAnswer.text(answer));
  }

  /** The key is used, and its answer will be found by this text. */
  public void use(Keyed request, String text) {
    use(request, null, text);
  }

  private void use(Keyed request, @Nullable Answer answer, String text) {
    first.put(request.key(), new Use(request.fingerprint(), answer));
    entries.add(new OnceEntry(request.key(), request.fingerprint(), text));
  }

  /** Adds the write of what the keys are used for, if any. */
  public void addRecord(RoundTrip trip) {
    if (!entries.isEmpty()) {
      once.addRecord(trip, scope, entries);
    }
  }
}
