package dev.lockstep.server.api;

import dev.lockstep.once.Claim;
import dev.lockstep.once.Fingerprint;
import dev.lockstep.once.Once;
import dev.lockstep.once.OnceEntry;
import dev.lockstep.once.OnceKey;
import dev.lockstep.sql.Exchange;
import dev.lockstep.sql.RoundTrip;
import io.vertx.core.Future;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes the answers of a batch to their idempotency keys, in the transaction that decided them,
 * with one read and one write however many there are.
 *
 * <p>Twins name the same thing, which the decision makes at most once. What remains is a key whose
 * first answer was a refusal and whose repetition, decided anew, would be granted now: that must
 * not take effect, so it fails here. The batch is then split, and in the end only it fails, with
 * the first answer in its ticket.
 */
public final class KeyedAnswers {
  private final Once once;

  public KeyedAnswers(Once once) {
    this.once = once;
  }

  /**
   * What was decided about a request.
   *
   * @param effect something is different now
   * @param kept the key is to be answered so from now on
   */
  public record Decided(Ticket<?> ticket, Answer answer, boolean effect, boolean kept) {}

  /** The key is answered already, and this request would have had an effect. */
  private static final class KeyTaken extends RuntimeException {
    private static final long serialVersionUID = 1L;

    KeyTaken() {
      super("The idempotency key has its answer already", null, false, false);
    }
  }

  /** For a companion: all keys are of one scope. */
  public void write(Exchange exchange, List<Decided> batch) throws SQLException {
    long scope = batch.get(0).ticket().key().scope();
    Map<OnceKey, Fingerprint> keys = new HashMap<>();
    batch.forEach(one -> keys.putIfAbsent(one.ticket().key(), one.ticket().fingerprint()));
    RoundTrip trip = exchange.trip();
    Supplier<Map<OnceKey, Claim>> looked = once.addFind(trip, scope, keys);
    trip.send();
    Map<OnceKey, Claim> stored = looked.get();
    Map<OnceKey, Ticket<?>> first = new LinkedHashMap<>();
    List<OnceEntry> entries = new ArrayList<>();
    for (Decided one : batch) {
      Ticket<?> ticket = one.ticket();
      OnceKey key = ticket.key();
      Map<OnceKey, Claim> found =
          Objects.equals(keys.get(key), ticket.fingerprint())
              ? stored
              : once.find(exchange.connection(), scope, Map.of(key, ticket.fingerprint()));
      Answer before = earlier(ticket, found.get(key), first.get(key));
      ticket.answer(before == null ? one.answer() : before);
      if (before != null && one.effect()) {
        throw new KeyTaken();
      }
      if (before == null && one.kept()) {
        first.put(key, ticket);
        entries.add(new OnceEntry(key, ticket.fingerprint(), StoredAnswer.text(one.answer())));
      }
    }
    if (!entries.isEmpty()) {
      RoundTrip last = exchange.trip();
      once.addRecord(last, scope, entries);
      exchange.defer(last);
    }
  }

  /** What the key was answered with before this ticket came, in the table or in this batch. */
  private static @Nullable Answer earlier(
      Ticket<?> ticket, @Nullable Claim stored, @Nullable Ticket<?> first) {
    if (stored instanceof Claim.Answered answered) {
      return StoredAnswer.replayed(answered.answer());
    }
    if (stored instanceof Claim.Reused) {
      return Problem.keyReused().toAnswer();
    }
    if (stored instanceof Claim.InUse) {
      return Problem.keyInUse().toAnswer();
    }
    if (first == null) {
      return null;
    }
    return first.fingerprint().equals(ticket.fingerprint())
        ? StoredAnswer.replayed(Objects.requireNonNull(first.answer()))
        : Problem.keyReused().toAnswer();
  }

  /**
   * The answer to a request that has been through its batch.
   *
   * @param atTheDoor for an outcome that was given without a transaction, so that nothing was
   *     recorded
   */
  public static <O> Future<Answer> answer(
      Future<O> outcome, Ticket<?> ticket, Function<O, Answer> atTheDoor) {
    return outcome
        .map(given -> Objects.requireNonNullElseGet(ticket.answer(), () -> atTheDoor.apply(given)))
        .recover(
            thrown -> {
              Answer answer = ticket.answer();
              return thrown instanceof KeyTaken && answer != null
                  ? Future.succeededFuture(answer)
                  : Future.failedFuture(thrown);
            });
  }
}
