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
 * The idempotency keys of a batch, all of one scope: finds earlier uses, in the table and in the
 * batch, and records new ones. One read and one write, unless two different requests share a key.
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
   * Adds the read to a trip. Send the trip before calling anything else here.
   *
   * @param requests at least one
   */
  public BatchKeys(Once once, RoundTrip trip, List<? extends Keyed> requests) {
    this.once = once;
    this.scope = requests.get(0).key().scope();
    requests.forEach(request -> lookedUp.putIfAbsent(request.key(), request.fingerprint()));
    this.found = once.addFind(trip, scope, lookedUp);
  }

  /** What the table holds for the keys. */
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
   * The answer that the key already has; null if the key is unused.
   *
   * @param parse makes an answer of the text in the key's row
   */
  public @Nullable Answer earlier(Exchange exchange, Keyed request, Function<String, Answer> parse)
      throws SQLException {
    OnceKey key = request.key();
    Claim claim =
        Objects.equals(lookedUp.get(key), request.fingerprint())
            ? storedKeys().get(key)
            // Another request of this batch has the same key, and was looked up instead.
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

  /** Records this answer for the key. */
  public void answer(Keyed request, Answer answer) {
    use(request, answer, StoredAnswer.text(answer));
  }

  /** Records the key as used; its answer will be found by this text. */
  public void use(Keyed request, String text) {
    use(request, null, text);
  }

  private void use(Keyed request, @Nullable Answer answer, String text) {
    first.put(request.key(), new Use(request.fingerprint(), answer));
    entries.add(new OnceEntry(request.key(), request.fingerprint(), text));
  }

  /** Adds the write of what was recorded, if anything. */
  public void addRecord(RoundTrip trip) {
    if (!entries.isEmpty()) {
      once.addRecord(trip, scope, entries);
    }
  }
}
